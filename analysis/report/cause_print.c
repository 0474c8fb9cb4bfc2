#include "report/cause_print.h"

#include "output/format.h"
#include "output/json_output.h"
#include "output/table.h"
#include "report/cause_table.h"
#include "report/filter.h"
#include "report/wait_print.h"

#include <inttypes.h>
#include <math.h>

/* True if this row shows its site's values. Where a site's rows are printed below each other, only
 * the first does. */
static bool tells_site(const struct sg_cause_row *row, const struct sg_cause_site *site)
{
    return site == NULL || row == site->rows;
}

static void print_site_ns(const void *of, const void *context, FILE *out)
{
    const struct sg_cause_row *row = of;

    fputs(tells_site(row, context) ? SG_NS(row->site_ns) : "", out);
}

static double share_of(const struct sg_cause_row *row, double ns)
{
    return 100 * ns / (double)row->site_ns;
}

static double figure_part(const void *of, const void *context)
{
    const struct sg_cause_row *row = of;

    (void)context;
    return share_of(row, (double)row->ns);
}

static void print_part(const void *of, const void *context, FILE *out)
{
    fprintf(out, "%.0f%%", figure_part(of, context));
}

static void print_interval(const void *of, const void *context, FILE *out)
{
    const struct sg_cause_row *row = of;

    (void)context;
    if (isnan(row->low_ns))
        fputc('-', out);
    else
        fprintf(out, "%.0f-%.0f%%", share_of(row, row->low_ns), share_of(row, row->high_ns));
}

static void print_share(const void *of, const void *context, FILE *out)
{
    const struct sg_cause_row *row = of;

    fprintf(out, "%3.0f%%", figure_part(of, context));
    if (!isnan(row->low_ns))
        fprintf(out, " (%.0f-%.0f)", share_of(row, row->low_ns), share_of(row, row->high_ns));
}

static void print_cause(const void *of, const void *context, FILE *out)
{
    const struct sg_cause_row *row = of;

    (void)context;
    fputs(sg_cause_names[row->cause], out);
}

static void print_steps(const void *of, const void *context, FILE *out)
{
    const struct sg_cause_row *row = of;

    (void)context;
    if (row->steps > 0)
        fprintf(out, "%u back", (unsigned)row->steps);
}

static void print_where(const void *of, const void *context, FILE *out)
{
    const struct sg_cause_row *row = of;

    (void)context;
    if (row->until.function == NULL) {
        fputc('-', out);
        return;
    }
    if (sg_cause_is_in_calls(row->cause)) {
        fputs("in ", out);
    } else {
        sg_waitstate_put_place(&row->after, out);
        fputs(" -> ", out);
    }
    sg_waitstate_put_place(&row->until, out);
}

static void print_at(const void *of, const void *context, FILE *out)
{
    const struct sg_cause_row *row = of;

    if (tells_site(row, context))
        sg_waitstate_put_place(&row->at, out);
}

#define OF_ROW(which, member)                                                                      \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_cause_row, member)

static const struct sg_column columns[] = {
    {NULL, "late", "late", .print = print_site_ns},
    {"cause", "cause", "because", .left = true, .print = print_cause},
    {NULL, "share", "share", .left = true, .print = print_share},
    {"late_ns", "caused", "caused", OF_ROW(NS, ns)},
    {NULL, "part", "share", .print = print_part, .figure = figure_part},
    {NULL, "interval", "95% interval", .left = true, .print = print_interval},
    {"low_ns", OF_ROW(REAL_NS, low_ns)},
    {"high_ns", OF_ROW(REAL_NS, high_ns)},
    {"rank", "rank", "rank", OF_ROW(COUNT32, rank)},
    {"steps", "steps", "steps", .left = true, OF_ROW(COUNT32, steps), .print = print_steps},
    {"instances", "instances", "times", OF_ROW(COUNT, instances)},
    {NULL, "at", "late at", .left = true, .flexible = true, .print = print_at},
    {NULL, "where", "longest", .left = true, .flexible = true, .print = print_where},
};
const struct sg_columns sg_cause_columns = {columns, sizeof columns / sizeof *columns};

/* ---- JSON (docs/report-json.md) and CSV ------------------------------------------------------ */

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

/* ---- text ------------------------------------------------------------------------------------ */

/* Smallest share of the waiting time at a site that a cause is shown for. For one site alone, only
 * causes that round to 0% are left out. */
#define SHARE_SHOWN 0.05
#define SHARE_OF_NOTHING 0.005

/* Finds the largest cause over all sites, and its site. */
static const struct sg_cause_row *find_greatest(const struct sg_causes_found *found,
                                                const struct sg_cause_site **site)
{
    const struct sg_cause_row *greatest = NULL;

    for (uint32_t i = 0; i < found->site_count; i++) {
        const struct sg_cause_row *row = found->sites[i].rows;

        if (found->sites[i].row_count > 0 && (greatest == NULL || row->ns > greatest->ns)) {
            greatest = row;
            *site = &found->sites[i];
        }
    }
    return greatest;
}

void sg_causes_print_summary(const struct sg_report *report, FILE *out)
{
    const struct sg_causes_found *found = report->causes;
    const struct sg_cause_site *site = NULL;
    const struct sg_cause_row *row = found != NULL ? find_greatest(found, &site) : NULL;

    if (row == NULL || found->late_ns == 0)
        return;
    sg_style_put_label("why", out);
    fprintf(out, "%s of %" PRIu64 " sampled instances' lateness: %s on rank %u, ",
            SG_SHARE(row->ns, found->late_ns), found->instances, sg_cause_names[row->cause],
            (unsigned)row->rank);
    fputs("late for ", out);
    sg_waitstate_put_place(&site->at, out);
    fputc('\n', out);
}

static bool is_shown(const struct sg_cause_site *site, uint32_t row, double share)
{
    return row == 0 || (double)site->rows[row].ns >= share * (double)site->late_ns;
}

static void add_rows(struct sg_table *table, const struct sg_cause_site *site, double share)
{
    for (uint32_t i = 0; i < site->row_count; i++) {
        if (is_shown(site, i, share))
            sg_table_row(table, &site->rows[i], site);
    }
}

enum sg_status sg_causes_print(const struct sg_report *report,
                               const struct sg_print_options *options, FILE *out)
{
    const struct sg_causes_found *found = report->causes;
    struct sg_table table = {0};
    uint32_t count;

    if (found == NULL || found->site_count == 0)
        return SG_OK;
    count = sg_print_count_of_long(options, found->site_count);
    sg_table_show(&table, sg_cause_columns, "late share cause rank steps at where");
    for (uint32_t i = 0; i < count; i++)
        add_rows(&table, &found->sites[i], SHARE_SHOWN);
    return sg_print_finish(&table, out);
}

/* ---- one site -------------------------------------------------------------------------------- */

/* Sets is_named for the causes that are shown. */
static enum sg_status put_why(const struct sg_cause_site *site, bool is_named[SG_CAUSES], FILE *out)
{
    struct sg_table table = {0};
    enum sg_status status;

    sg_waitstate_put_place(&site->at, out);
    fprintf(out, ": %" PRIu64 " sampled instances, others waited %s for the last one\n",
            site->instances, SG_NS(site->late_ns));
    sg_table_show(&table, sg_cause_columns, "share cause rank steps instances where");
    add_rows(&table, site, SHARE_OF_NOTHING);
    status = sg_print_finish(&table, out);
    for (uint32_t i = 0; i < site->row_count; i++) {
        if (is_shown(site, i, SHARE_OF_NOTHING))
            is_named[site->rows[i].cause] = true;
    }
    return status;
}

static void put_legend(const struct sg_report *report, const bool is_named[SG_CAUSES], FILE *out)
{
    for (unsigned i = 0; i < SG_CAUSES; i++) {
        if (is_named[i])
            fprintf(out, "%-18s %s%s\n", sg_cause_names[i], sg_cause_texts[i],
                    sg_cause_is_crowding(i) && sg_report_is_oversubscribed(report)
                        ? " (there are more ranks than processors)"
                        : "");
    }
}

enum sg_status sg_causes_print_why(const struct sg_report *report, const struct sg_filter *sites,
                                   FILE *out)
{
    const struct sg_causes_found *found = report->causes;
    bool is_named[SG_CAUSES] = {false};
    enum sg_status status = SG_OK;
    uint32_t taken = 0;

    if (found == NULL) {
        sg_log("why is not known: no intervals between calls were sampled in all ranks' events"
               " (STAGGER_TRACE=otf2, STAGGER_CAUSES)");
        return SG_ERR_MISSING;
    }
    for (uint32_t i = 0; i < found->site_count && status == SG_OK; i++) {
        if (!sg_filter_takes_row(sites, &found->sites[i].at.site))
            continue;
        status = put_why(&found->sites[i], is_named, out);
        taken++;
    }
    if (taken == 0) {
        sg_log("no collective that ranks were late for and that was sampled is at '%s'",
               sites->site);
        return SG_ERR_MISSING;
    }
    if (status == SG_OK)
        put_legend(report, is_named, out);
    return status;
}
