/* The columns of a report's rows in one table: which cells are known, and how the special ones are
 * printed, sorted and written as JSON. The last part sorts a report by a column.
 */
#include "report/report_columns.h"

#include "core/text.h"
#include "output/format.h"
#include "report/cause_table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- known cells of a row -------------------------------------------------------------------- */

#define KNOWN(type, name, condition)                                                               \
    type name(const void *row)                                                                     \
    {                                                                                              \
        const struct sg_report_site *site = row;                                                   \
                                                                                                   \
        return condition;                                                                          \
    }

KNOWN(bool, sg_site_knows_id, site->has_id)
KNOWN(bool, sg_site_knows_line, site->line > 0)
KNOWN(bool, sg_site_knows_module, site->module != NULL)
KNOWN(static bool, knows_size, site->comm_size > 0)
KNOWN(static bool, knows_algorithm, site->algorithm != NULL && site->algorithm[0] != '\0')
KNOWN(static bool, knows_skew, sg_site_has_skew(site))
KNOWN(static bool, knows_wait, sg_site_has_wait(site))
KNOWN(static bool, knows_exposed, sg_site_has_exposed(site))
KNOWN(static bool, knows_hidden, site->nonblocking)
KNOWN(static bool, knows_last, site->last_rank >= 0)

/* ---- columns with their own printers: context is the report ---------------------------------- */

#define PRINTER(name) static void print_##name(const void *row, const void *context, FILE *out)
#define FIGURE(name) static double figure_##name(const void *row, const void *context)
#define JSON(name) static json_t *json_##name(const void *row, const void *context)

PRINTER(op)
{
    fputs(sg_site_operation(row), out);
}

/* The call site: its function, then file and line, or else module and offset; without any of these,
 * the id. A rule accepts the text as printed. */
PRINTER(site)
{
    const struct sg_report_site *site = row;
    const char *blank = site->function != NULL ? " " : "";

    if (site->function != NULL)
        fputs(site->function, out);
    if (site->file != NULL)
        fprintf(out, "%s%s:%" PRIu32, blank, sg_text_base_name(site->file), site->line);
    else if (site->module != NULL)
        fprintf(out, "%s%s+0x%" PRIx64, blank, sg_text_base_name(site->module), site->offset);
    else if (site->function == NULL)
        fprintf(out, site->has_id ? "#%08" PRIx32 : "-", site->id);
}

/* All that is known: function, file and line, module and offset. */
PRINTER(where)
{
    const struct sg_report_site *site = row;
    const char *blank = site->function != NULL ? " " : "";

    if (site->function != NULL)
        fputs(site->function, out);
    if (site->file != NULL)
        fprintf(out, "%s(%s:%" PRIu32 ")", blank, site->file, site->line);
    blank = site->file != NULL ? " " : blank;
    if (site->module != NULL)
        fprintf(out, "%s[%s+0x%" PRIx64 "]", blank, site->module, site->offset);
    else if (blank[0] == '\0')
        fputs("-", out);
}

static const char *short_name(const char *name)
{
    static const char prefix[] = "MPI_COMM_";

    return strncmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : name;
}

void sg_comm_put(const char *name, uint32_t size, FILE *out)
{
    fprintf(out, "%s(%" PRIu32 ")", short_name(name), size);
}

PRINTER(comm)
{
    const struct sg_report_site *site = row;

    if (site->comm != NULL)
        sg_comm_put(site->comm, site->comm_size, out);
    else
        fprintf(out, "%" PRIu32 " comms", site->comms);
}

PRINTER(parent)
{
    const struct sg_report_site *site = row;

    fputs(site->comm_parent != NULL ? short_name(site->comm_parent) : "-", out);
}

/* NAN: unknown. */
static double mean_of(const struct sg_report_site *site)
{
    return sg_site_has_skew(site) ? (double)site->skew_sum_ns / (double)site->instances : NAN;
}

PRINTER(mean)
{
    const double mean_ns = mean_of(row);

    fputs(isnan(mean_ns) ? "-" : SG_UNSIGNED(mean_ns), out);
}

FIGURE(mean)
{
    const double mean_ns = mean_of(row);

    return isnan(mean_ns) ? -1 : mean_ns;
}

JSON(mean)
{
    return sg_json_real(sg_site_has_skew(row), mean_of(row));
}

PRINTER(worst)
{
    const struct sg_report_site *site = row;

    if (!sg_site_has_skew(site)) {
        fputs("-", out);
        return;
    }
    fprintf(out, "#%" PRIu64, site->worst_seq);
    if (site->comm == NULL) {
        fputs(" ", out);
        sg_comm_put(site->worst_comm, site->worst_comm_size, out);
    }
}

FIGURE(worst)
{
    const struct sg_report_site *site = row;

    return sg_site_has_skew(site) ? (double)site->skew_max_ns : -1;
}

JSON(worst)
{
    const struct sg_report_site *site = row;

    if (!sg_site_has_skew(site))
        return json_null();
    return json_pack("{s:I, s:I, s:I}", "seq", (json_int_t)site->worst_seq, "time_ns",
                     (json_int_t)site->worst_time_ns, "skew_ns", (json_int_t)site->skew_max_ns);
}

PRINTER(at)
{
    const struct sg_report_site *site = row;

    fputs(sg_site_has_skew(site)
              ? SG_NS(site->worst_time_ns > 0 ? (uint64_t)site->worst_time_ns : 0)
              : "-",
          out);
}

FIGURE(at)
{
    const struct sg_report_site *site = row;

    return sg_site_has_skew(site) ? (double)site->worst_time_ns : -1;
}

PRINTER(run)
{
    const struct sg_report_site *site = row;
    const struct sg_report *report = context;

    fputs(SG_SHARE(site->blocked_ns, report->ranks_run_ns), out);
}

FIGURE(run)
{
    const struct sg_report_site *site = row;

    return (double)site->blocked_ns;
}

JSON(run)
{
    const struct sg_report_site *site = row;
    const struct sg_report *report = context;

    return sg_json_share(site->blocked_ns, report->ranks_run_ns);
}

void sg_last_put(int64_t rank, uint64_t count, uint64_t instances, FILE *out)
{
    char share[SG_FORMAT_BYTES];

    if (rank < 0) {
        fputs("-", out);
        return;
    }
    snprintf(share, sizeof share, "%.0f%%", 100.0 * (double)count / (double)instances);
    fprintf(out, "%" PRId64 " %4s", rank, share);
}

PRINTER(last)
{
    const struct sg_report_site *site = row;

    sg_last_put(site->last_rank, site->last_count, site->instances, out);
}

FIGURE(last)
{
    const struct sg_report_site *site = row;

    return site->last_rank < 0 ? -1 : (double)site->last_count / (double)site->instances;
}

JSON(last)
{
    const struct sg_report_site *site = row;

    return sg_json_share(site->last_count, site->last_rank < 0 ? 0 : site->instances);
}

/* The largest cause with its rank and share. */
PRINTER(why)
{
    const struct sg_report_site *site = row;
    const struct sg_report *report = context;
    const char *function = (site->nonblocking ? sg_operation_nonblocking_regions
                                              : sg_operation_regions)[site->operation];
    const struct sg_cause_site *found = sg_causes_at(report->causes, function, site->site);

    if (found == NULL || found->row_count == 0)
        fputs("-", out);
    else
        fprintf(out, "%s on %" PRIu32 " %s", sg_cause_names[found->rows[0].cause],
                found->rows[0].rank, SG_SHARE(found->rows[0].ns, found->late_ns));
}

/* ---- the table ------------------------------------------------------------------------------- */

#define IS(which, member)                                                                          \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_report_site, member)
#define COUNTED(field, name, count)                                                                \
    {                                                                                              \
        field, name, name, IS(COUNT, counts.of[count])                                             \
    }

/* In JSON order. Columns of the call site come first, counters last. */
static const struct sg_column columns[] = {
    {"id", "id", "id", .left = true, IS(ID, id), .known = sg_site_knows_id},
    {"op", "op", "op", .left = true, .print = print_op},
    SG_SITE_SOURCE_COLUMNS,
    {NULL, "site", "call site", .left = true, .flexible = true, .print = print_site},
    {NULL, "where", "where", .left = true, .print = print_where},
    {"comm", "comm", "comm", .left = true, .max_width = 16, IS(TEXT, comm), .print = print_comm},
    {"comm_size", "size", "size", IS(COUNT32, comm_size), .known = knows_size},
    {"comm_parent", "parent", "parent", .left = true, .max_width = 16, IS(TEXT, comm_parent),
     .print = print_parent},
    {"algorithm", "algorithm", "algo", .left = true, .max_width = 12, IS(TEXT, algorithm),
     .known = knows_algorithm},
    {"calls", "calls", "calls", IS(COUNT, calls)},
    {"bytes", "bytes", "bytes", IS(BYTES, bytes)},
    {"skew_ns.p50", "p50", "skew50", IS(NS, skew_p50_ns), .known = knows_skew},
    {"skew_ns.p95", "p95", "skew95", IS(NS, skew_p95_ns), .known = knows_skew},
    {"skew_ns.max", "max", "skewmax", IS(NS, skew_max_ns), .known = knows_skew},
    {"skew_ns.mean", "mean", "skewmean", .print = print_mean, .figure = figure_mean,
     .json = json_mean},
    {"wait_ns", "wait", "wait", IS(NS, wait_ns), .known = knows_wait},
    {"blocked_ns", "blocked", "blocked", IS(NS, blocked_ns)},
    {"last_rank", "last", "last", IS(COUNT, last_rank), .known = knows_last, .print = print_last,
     .figure = figure_last},
    {"last_rank_share", .json = json_last},
    {NULL, "why", "why", .left = true, .print = print_why},
    {"event_calls", IS(COUNT, event_calls)},
    {"instances", IS(COUNT, instances)},
    {NULL, "instances", "inst", IS(COUNT, instances), .known = knows_skew},
    {"wait_avoided_ns", "avoided", "avoided", IS(NS, wait_avoided_ns), .known = knows_wait},
    {"completion_ns", IS(NS, completion_ns), .known = knows_wait},
    {"run_share", "run", "run", .print = print_run, .figure = figure_run, .json = json_run},
    {"worst", "worst", "worst", .print = print_worst, .figure = figure_worst, .json = json_worst},
    {NULL, "at", "at", .print = print_at, .figure = figure_at},
    {"handler_ns", "handler", "handler", IS(NS, handler_ns)},
    {"exposed_ns", "exposed", "exposed", IS(NS, exposed_ns), .known = knows_exposed},
    {"hidden_ns", "hidden", "hidden", IS(NS, hidden_ns), .known = knows_hidden},
    {"ran_ahead", "ahead", "ahead", IS(COUNT, ran_ahead), .known = knows_wait},
    {"late_by_signal", "by_signal", "by_signal", IS(COUNT, late_by_signal), .known = knows_wait},
    COUNTED("early", "early", SG_COUNT_EARLY),
    COUNTED("late", "late", SG_COUNT_LATE),
    COUNTED("signals", "signals", SG_COUNT_SIGNALS),
    COUNTED("signals_ignored", "ignored", SG_COUNT_IGNORED),
    COUNTED("stalls", "stalls", SG_COUNT_STALLS),
    COUNTED("token_moves", "moves", SG_COUNT_MOVES),
    COUNTED("releases_repeated", "repeats", SG_COUNT_REPEATS),
    COUNTED("outstanding_max", "outstanding", SG_COUNT_OUTSTANDING),
};
#define ALL (sizeof columns / sizeof *columns)
#define PLACES 9
#define COUNTS SG_COUNT_COUNT

const struct sg_columns sg_site_columns = {columns, ALL};
const struct sg_columns sg_site_place_columns = {columns, PLACES};
const struct sg_columns sg_site_row_columns = {columns + PLACES, ALL - PLACES - COUNTS};
const struct sg_columns sg_site_count_columns = {columns + ALL - COUNTS, COUNTS};

char *sg_site_text(const char *column, const struct sg_report *report,
                   const struct sg_report_site *site)
{
    return sg_column_text(sg_column_find(sg_site_columns, column), site, report);
}

/* ---- sorting --------------------------------------------------------------------------------- */

static int order_of(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int tie(const void *left, const void *right)
{
    const struct sg_report_site *a = left, *b = right;
    int order = order_of(b->blocked_ns, a->blocked_ns);

    if (order == 0)
        order = order_of(a->id, b->id);
    if (order == 0)
        order = order_of(a->comm_index, b->comm_index);
    if (order == 0)
        order = (int)a->operation - (int)b->operation;
    return order != 0 ? order : (int)a->nonblocking - (int)b->nonblocking;
}

enum sg_status sg_report_sort(struct sg_report *report, const struct sg_column *column)
{
    enum sg_status status = sg_columns_sort(column, report, report->sites, report->site_count,
                                            sizeof *report->sites, NULL, tie);

    if (status == SG_OK)
        status = sg_columns_sort(column, report, report->sums, report->sum_count,
                                 sizeof *report->sums, NULL, tie);
    if (status != SG_OK)
        sg_log("report: out of memory");
    return status;
}
