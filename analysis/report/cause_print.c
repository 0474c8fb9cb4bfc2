/* Causes of lateness (cause_table.h): their columns, JSON, CSV, and the text of the report, its
 * summary and one call site.
 */
#include "output/format.h"
#include "report/cause_table.h"
#include "report/filter.h"
#include "report/report_section.h"
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

static double figure_part(const void *of, const void *context)
{
    const struct sg_cause_row *row = of;

    return 100 * (double)row->ns / (double)row->site_ns;
}

static void print_part(const void *of, const void *context, FILE *out)
{
    fprintf(out, "%.0f%%", figure_part(of, context));
}

static void print_interval(const void *of, const void *context, FILE *out)
{
    const struct sg_cause_row *row = of;

    if (isnan(row->low_share))
        fputc('-', out);
    else
        fprintf(out, "%.0f-%.0f%%", 100 * row->low_share, 100 * row->high_share);
}

static void print_share(const void *of, const void *context, FILE *out)
{
    const struct sg_cause_row *row = of;

    fprintf(out, "%3.0f%%", figure_part(of, context));
    if (!isnan(row->low_share))
        fprintf(out, " (%.0f-%.0f)", 100 * row->low_share, 100 * row->high_share);
}

static void print_steps(const void *of, const void *context, FILE *out)
{
    const struct sg_cause_row *row = of;

    if (row->steps > 0)
        fprintf(out, "%u back", (unsigned)row->steps);
}

static void print_where(const void *of, const void *context, FILE *out)
{
    const struct sg_cause_row *row = of;

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
    {"cause", "cause", "because", .left = true, OF_ROW(WORD, cause), .words = sg_cause_names},
    {NULL, "share", "share", .left = true, .print = print_share},
    {"late_ns", "caused", "caused", OF_ROW(NS, ns)},
    {NULL, "part", "share", .print = print_part, .figure = figure_part},
    {NULL, "interval", "95% interval", .left = true, .print = print_interval},
    {"low_ns", OF_ROW(REAL_NS, low_ns)},
    {"high_ns", OF_ROW(REAL_NS, high_ns)},
    {"low_share", OF_ROW(SHARE, low_share)},
    {"high_share", OF_ROW(SHARE, high_share)},
    {"rank", "rank", "rank", OF_ROW(COUNT32, rank)},
    {"steps", "steps", "steps", .left = true, OF_ROW(COUNT32, steps), .print = print_steps},
    {"instances", "instances", "times", OF_ROW(COUNT, instances)},
    {NULL, "at", "late at", .left = true, .flexible = true, .print = print_at},
    {NULL, "where", "longest", .left = true, .flexible = true, .print = print_where},
    {"after", OF_ROW(OBJECT, after), .inner = &sg_waitstate_place_columns},
    {"until", OF_ROW(OBJECT, until), .inner = &sg_waitstate_place_columns},
};
static const struct sg_columns cause_columns = SG_COLUMNS(columns);

/* ---- JSON (docs/report-json.md) -------------------------------------------------------------- */

/* The rows of a site. */
static struct sg_rows rows_of(const struct sg_cause_site *site)
{
    return SG_ROWS(site->rows, site->row_count, site);
}

static void put_site(const struct sg_cause_site *site, struct sg_json_writer *writer)
{
    static const struct sg_section causes = {.member = "causes", .json = {&cause_columns}};
    const struct sg_rows rows = rows_of(site);

    sg_json_begin(writer, NULL, '{');
    sg_json_put_members(writer, sg_waitstate_place_json(&site->at));
    sg_json_put_count(writer, "instances", site->instances);
    sg_json_put_count(writer, "late_ns", site->late_ns);
    sg_section_put(&causes, &rows, writer);
    sg_json_end(writer, '}');
}

static json_t *json_spent(const void *row, const void *context)
{
    const struct sg_cause_link *link = row;
    json_t *spent = json_object();

    for (int i = 0; i < SG_CAUSES; i++) {
        if (link->ns[i] > 0)
            sg_json_set(&spent, sg_cause_names[i], json_integer((json_int_t)llround(link->ns[i])));
    }
    return spent;
}

#define OF_LINK(which, member)                                                                     \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_cause_link, member)

static void put_chain(const struct sg_cause_chain *chain, struct sg_json_writer *writer)
{
    static const struct sg_column link_columns[] = {
        {"rank", OF_LINK(COUNT32, rank)},
        {"from_ns", OF_LINK(INTEGER, from_ns)},
        {"until_ns", OF_LINK(INTEGER, to_ns)},
        {"spent_ns", .json = json_spent},
        {"after", OF_LINK(OBJECT, after), .inner = &sg_waitstate_place_columns},
        {"until", OF_LINK(OBJECT, until), .inner = &sg_waitstate_place_columns},
        {"waited_in", OF_LINK(OBJECT, waited), .inner = &sg_waitstate_place_columns},
    };
    static const struct sg_columns all = SG_COLUMNS(link_columns);
    static const struct sg_section links = {.member = "links", .json = {&all}};

    sg_json_begin(writer, NULL, '{');
    sg_json_put_members(writer, sg_waitstate_place_json(&chain->at));
    sg_json_put_members(
        writer,
        json_pack("{s:I, s:I, s:I, s:s, s:I, s:I}", "late_ns", (json_int_t)chain->late_ns,
                  "first_rank", (json_int_t)chain->first_rank, "first_ns",
                  (json_int_t)chain->first_ns, "cause", sg_cause_names[chain->cause], "rank",
                  (json_int_t)chain->cause_rank, "cause_ns", (json_int_t)chain->cause_ns));
    sg_section_put(&links, &SG_ROWS(chain->links, chain->link_count, NULL), writer);
    sg_json_end(writer, '}');
}

SG_REPORT_MEMBER(sg_causes_put)
{
    const struct sg_causes_found *found = report->causes;

    if (found == NULL) {
        sg_json_put(writer, "causes", json_null());
        return;
    }
    sg_json_begin(writer, "causes", '{');
    sg_json_put_count(writer, "instances", found->instances);
    sg_json_put_count(writer, "unsampled_instances", found->unsampled);
    sg_json_put_count(writer, "late_ns", found->late_ns);
    sg_json_put_count(writer, "site_count", found->site_count);
    sg_json_begin(writer, "sites", '[');
    for (uint32_t i = 0; i < sg_print_count(options, found->site_count); i++)
        put_site(&found->sites[i], writer);
    sg_json_end(writer, ']');
    sg_json_begin(writer, "chains", '[');
    for (uint32_t i = 0; i < found->chain_count; i++)
        put_chain(&found->chains[i], writer);
    sg_json_end(writer, ']');
    sg_json_end(writer, '}');
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Smallest share of the waiting time at a site that a cause is shown for. For one site alone, only
 * causes that round to 0% are left out. */
#define SHARE_SHOWN 0.05
#define SHARE_OF_NOTHING 0.005

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

static SG_REPORT_PRINTER(print_text)
{
    const struct sg_causes_found *found = report->causes;
    uint32_t count = found != NULL ? sg_print_count_of_long(options, found->site_count) : 0;
    struct sg_table table = {0};

    if (count == 0)
        return SG_OK;
    sg_report_put_title(&sg_causes_section, report, out);
    sg_table_show(&table, cause_columns, "late share cause rank steps at where");
    for (uint32_t i = 0; i < count; i++)
        add_rows(&table, &found->sites[i], SHARE_SHOWN);
    return sg_print_finish(&table, out);
}

static SG_REPORT_PRINTER(print_csv)
{
    const struct sg_causes_found *found = report->causes;
    uint32_t count = found != NULL ? sg_print_count(options, found->site_count) : 0;
    enum sg_status status = SG_OK;

    sg_section_csv_begin(&sg_causes_section.table, out);
    for (uint32_t i = 0; i < count && status == SG_OK; i++) {
        const struct sg_rows rows = rows_of(&found->sites[i]);

        status = sg_section_csv_rows(&sg_causes_section.table, &rows, "report", out);
    }
    return status;
}

static const struct sg_column late_columns[] = {
    {"late", OF_ROW(OBJECT, at), .inner = &sg_waitstate_place_columns}};
static const struct sg_columns late_only = {late_columns, 1};

const struct sg_report_section sg_causes_section = {
    .name = "causes",
    .part = SG_PART_WHY,
    .title = "Why ranks come late to collectives",
    .is_of_events = true,
    .print = print_text,
    .csv = print_csv,
    .table = {.json = {&cause_columns, &late_only},
              .csv = "cause rank late_ns low_ns high_ns low_share high_share steps instances "
                     "late.mpi_function late.id "
                     "late.function late.file late.line late.module late.offset "
                     "after.mpi_function after.id after.function after.file after.line "
                     "until.mpi_function until.id until.function until.file until.line",
              .text = {&cause_columns}}};

/* ---- one site -------------------------------------------------------------------------------- */

/* Sets is_named for the causes that are shown. */
static enum sg_status put_why(const struct sg_cause_site *site, bool is_named[SG_CAUSES], FILE *out)
{
    struct sg_table table = {0};
    enum sg_status status;

    sg_waitstate_put_place(&site->at, out);
    fprintf(out, ": %" PRIu64 " sampled instances, others waited %s for the last one\n",
            site->instances, SG_NS(site->late_ns));
    sg_table_show(&table, cause_columns, "share cause rank steps instances where");
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
                    sg_cause_is_crowding(i) && sg_report_is_crowded(report)
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
