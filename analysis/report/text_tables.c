/* The tables of the text report: rows, and ranks. */
#include "report/text_tables.h"

#include "output/format.h"
#include "report/filter.h"
#include "report/report_columns.h"

#include <inttypes.h>
#include <stdlib.h>

#define RANKS_SHOWN 32 /* for more ranks, only the two ends of the list are shown */
#define RANKS_EACH_END 8

/* ---- rows ------------------------------------------------------------------------------------ */

struct rows {
    const struct sg_report *report;
    const struct sg_report_site *sites;
    uint32_t count;
};

/* Counters of messages: each gets a column if some row has it. The last one alone does not make a
 * row, because members run ahead in any reduce or broadcast. */
static const char *const messages[] = {"avoided",   "exposed", "hidden",      "early",   "late",
                                       "by_signal", "handler", "outstanding", "signals", "ignored",
                                       "stalls",    "moves",   "repeats",     "ahead"};
#define MESSAGES (sizeof messages / sizeof *messages)

static bool has_any(const struct rows *rows, uint32_t row, size_t message)
{
    return sg_column_figure(sg_column_find(sg_site_columns, messages[message]), &rows->sites[row],
                            rows->report) > 0;
}

enum sg_status sg_print_finish(struct sg_table *table, FILE *out)
{
    enum sg_status status = sg_table_finish(table, "report", out);

    fputc('\n', out);
    return status;
}

/* The parent column is shown only if communicators have their own rows. */
static bool has_parents(const struct rows *rows, bool comms)
{
    for (uint32_t row = 0; comms && row < rows->count; row++) {
        if (rows->sites[row].comm_parent != NULL)
            return true;
    }
    return false;
}

static enum sg_status put_messages(const struct rows *rows, FILE *out)
{
    struct sg_table table = {0};

    sg_table_show(&table, sg_site_columns, "id op comm");
    for (size_t i = 0; i < MESSAGES; i++) {
        uint32_t row = 0;

        while (row < rows->count && !has_any(rows, row, i))
            row++;
        if (row < rows->count)
            sg_table_show(&table, sg_site_columns, messages[i]);
    }
    for (uint32_t row = 0; row < rows->count; row++) {
        size_t i = 0;

        while (i < MESSAGES - 1 && !has_any(rows, row, i))
            i++;
        if (i < MESSAGES - 1)
            sg_table_row(&table, &rows->sites[row], rows->report);
    }
    return table.cell_count > 0 || table.failed ? sg_print_finish(&table, out) : SG_OK;
}

enum sg_status sg_report_print_rows(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out)
{
    const struct rows rows = {
        .report = report,
        .sites = options->comms ? report->sites : report->sums,
        .count = sg_print_count(options, options->comms ? report->site_count : report->sum_count)};
    const char *const shown[][3] = {
        {"op site comm algorithm calls instances bytes p50 p95 max wait blocked run last",
         report->causes != NULL ? "why" : "", ""},
        {"id op comm", has_parents(&rows, options->comms) ? "parent" : "", "where worst at"}};
    enum sg_status status = SG_OK;

    for (int i = 0; i < 2 && status == SG_OK; i++) {
        struct sg_table table = {0};

        for (int part = 0; part < 3; part++)
            sg_table_show(&table, sg_site_columns, shown[i][part]);
        for (uint32_t row = 0; row < rows.count; row++)
            sg_table_row(&table, &rows.sites[row], report);
        status = sg_print_finish(&table, out);
    }
    return status == SG_OK ? put_messages(&rows, out) : status;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static bool has_events(const void *row)
{
    const struct sg_ranked *ranked = row;

    return ranked->has_events;
}

static void print_share(const void *row, const void *context, FILE *out)
{
    const struct sg_ranked *ranked = row;

    fputs(SG_SHARE(ranked->of.blocked_ns, sg_rank_processor_ns(&ranked->of)), out);
}

#define IS(which, member) .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_ranked, member)

/* In JSON order. */
static const struct sg_column rank_columns[] = {
    {"rank", "rank", "rank", IS(COUNT32, rank)},
    {"run_ns", "run", "run time", IS(NS, of.run_ns)},
    {"blocked_ns", "blocked", "blocked", IS(NS, of.blocked_ns)},
    {"elsewhere_ns", "elsewhere", "elsewhere", IS(NS, elsewhere_ns)},
    {"compute_ns", IS(NS, elsewhere_ns)},
    {NULL, "share", "share", .print = print_share},
    {"threads", "threads", "threads", IS(COUNT32, of.threads)},
    {"calls", "calls", "calls", IS(COUNT, of.calls)},
    {"wait_ns", "wait", "wait", IS(NS, of.wait_ns), .known = has_events},
    {"last_count", IS(COUNT, of.last_count), .known = has_events},
    {NULL, "last", "last", IS(COUNT, of.last_count)},
};
const struct sg_columns sg_rank_columns = {rank_columns,
                                           sizeof rank_columns / sizeof *rank_columns};

static int by_blocked(const void *left, const void *right)
{
    const struct sg_ranked *a = left, *b = right;

    if (a->of.blocked_ns != b->of.blocked_ns)
        return a->of.blocked_ns < b->of.blocked_ns ? 1 : -1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* With a filter: each rank's share of the selected calls. */
static void add_ranks_of_part(struct sg_table *table, const struct sg_report *report)
{
    sg_table_show(table, sg_rank_columns, "rank calls wait blocked share last");
    for (uint32_t i = 0; i < report->rank_count; i++) {
        const struct sg_ranked ranked = sg_ranked_of(report, i);

        if (sg_filter_takes_rank(report->filter, i) && ranked.of.calls + ranked.of.last_count > 0)
            sg_table_row(table, &ranked, NULL);
    }
}

static void add_ranks(struct sg_table *table, const struct sg_report *report,
                      struct sg_ranked *ranks, FILE *out)
{
    bool all = report->rank_count <= RANKS_SHOWN, threaded = false;

    for (uint32_t i = 0; i < report->rank_count; i++) {
        ranks[i] = sg_ranked_of(report, i);
        threaded = threaded || report->ranks[i].threads > 1;
    }
    sg_table_show(table, sg_rank_columns, "rank run elsewhere blocked share");
    if (threaded)
        sg_table_show(table, sg_rank_columns, "threads");
    if (!all) {
        qsort(ranks, report->rank_count, sizeof *ranks, by_blocked);
        fprintf(out, "the %d most and the %d least blocked of %" PRIu32 " ranks:\n", RANKS_EACH_END,
                RANKS_EACH_END, report->rank_count);
    }
    for (uint32_t i = 0; i < report->rank_count; i++) {
        if (all || i < RANKS_EACH_END || i >= report->rank_count - RANKS_EACH_END)
            sg_table_row(table, &ranks[i], NULL);
    }
}

enum sg_status sg_report_print_ranks(const struct sg_report *report, FILE *out)
{
    struct sg_ranked *ranks = calloc((size_t)report->rank_count + 1, sizeof *ranks);
    struct sg_table table = {.failed = ranks == NULL};

    if (sg_filter_is_set(report->filter))
        add_ranks_of_part(&table, report);
    else if (ranks != NULL)
        add_ranks(&table, report, ranks, out);
    free(ranks);
    return sg_table_finish(&table, "report", out);
}
