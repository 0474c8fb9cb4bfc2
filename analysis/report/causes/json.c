/* Why ranks were late, for programs: a member of the report's JSON (docs/report-json.md), and its
 * rows as CSV. */
#include "output/json.h"
#include "output/csv.h"
#include "report/causes/causes.h"
#include "report/causes/columns.h"
#include "report/causes/print.h"
#include "report/waitstates/columns.h"

#include <math.h>

static json_t *row_of(const struct sg_cause_row *row, const struct sg_cause_site *site)
{
    json_t *object = json_object();

    sg_columns_set(&object, sg_cause_columns, row, site);
    sg_json_set(&object, "after", sg_waitstate_place_json(&row->after));
    sg_json_set(&object, "until", sg_waitstate_place_json(&row->until));
    return object;
}

static json_t *site_of(const struct sg_cause_site *site)
{
    json_t *object = json_object(), *rows = json_array();

    sg_columns_set(&object, sg_waitstate_place_columns, &site->at, NULL);
    sg_json_set(&object, "instances", json_integer((json_int_t)site->instances));
    sg_json_set(&object, "late_ns", json_integer((json_int_t)site->late_ns));
    for (uint32_t i = 0; i < site->row_count; i++)
        sg_json_append(&rows, row_of(&site->rows[i], site));
    sg_json_set(&object, "causes", rows);
    return object;
}

/* ---- chains ---------------------------------------------------------------------------------- */

static json_t *link_of(const struct sg_cause_link *link)
{
    json_t *spent = json_object();
    json_t *object;

    for (int i = 0; i < SG_CAUSES; i++) {
        if (link->ns[i] > 0)
            sg_json_set(&spent, sg_cause_names[i], json_integer((json_int_t)llround(link->ns[i])));
    }
    object = json_pack("{s:i, s:I, s:I, s:o}", "rank", (int)link->rank, "from_ns",
                       (json_int_t)link->from_ns, "until_ns", (json_int_t)link->to_ns, "spent_ns",
                       spent);
    sg_json_set(&object, "after", sg_waitstate_place_json(&link->after));
    sg_json_set(&object, "until", sg_waitstate_place_json(&link->until));
    sg_json_set(&object, "waited_in", sg_waitstate_place_json(&link->waited));
    return object;
}

static json_t *chain_of(const struct sg_cause_chain *chain)
{
    json_t *object = json_object(), *links = json_array();

    sg_columns_set(&object, sg_waitstate_place_columns, &chain->at, NULL);
    sg_json_set(&object, "late_ns", json_integer((json_int_t)chain->late_ns));
    sg_json_set(&object, "first_rank", json_integer(chain->first_rank));
    sg_json_set(&object, "first_ns", json_integer(chain->first_ns));
    sg_json_set(&object, "cause", json_string(sg_cause_names[chain->cause]));
    sg_json_set(&object, "rank", json_integer(chain->cause_rank));
    sg_json_set(&object, "cause_ns", json_integer((json_int_t)chain->cause_ns));
    for (uint32_t i = 0; i < chain->link_count; i++)
        sg_json_append(&links, link_of(&chain->links[i]));
    sg_json_set(&object, "links", links);
    return object;
}

static json_t *chains_of(const struct sg_causes_found *found)
{
    json_t *chains = json_array();

    for (uint32_t i = 0; i < found->chain_count; i++)
        sg_json_append(&chains, chain_of(&found->chains[i]));
    return chains;
}

void sg_causes_json(json_t **root, const struct sg_report *report,
                    const struct sg_print_options *options)
{
    const struct sg_causes_found *found = report->causes;
    json_t *whole, *sites;

    if (found == NULL) {
        sg_json_set(root, "causes", json_null());
        return;
    }
    whole = json_pack("{s:I, s:I, s:I, s:I}", "instances", (json_int_t)found->instances,
                      "unsampled_instances", (json_int_t)found->unsampled, "late_ns",
                      (json_int_t)found->late_ns, "site_count", (json_int_t)found->site_count);
    sites = json_array();
    for (uint32_t i = 0; i < sg_print_count(options, found->site_count); i++)
        sg_json_append(&sites, site_of(&found->sites[i]));
    sg_json_set(&whole, "sites", sites);
    sg_json_set(&whole, "chains", chains_of(found));
    sg_json_set(root, "causes", whole);
}

enum sg_status sg_causes_print_csv(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out)
{
    static const struct sg_csv csv = {
        "\r\n", 6,
        "cause rank late_ns low_ns high_ns steps instances late.mpi_function late.id "
        "late.function late.file late.line late.module late.offset after.mpi_function after.id "
        "after.function after.file after.line until.mpi_function until.id until.function "
        "until.file until.line"};
    static const struct sg_causes_found none;
    const struct sg_causes_found *found = report->causes != NULL ? report->causes : &none;
    json_t *rows = json_array();

    for (uint32_t i = 0; i < sg_print_count(options, found->site_count); i++) {
        const struct sg_cause_site *site = &found->sites[i];

        for (uint32_t r = 0; r < site->row_count; r++) {
            json_t *row = row_of(&site->rows[r], site);

            sg_json_set(&row, "late", sg_waitstate_place_json(&site->at));
            sg_json_append(&rows, row);
        }
    }
    return sg_csv_print(&csv, rows, "report", out);
}
