/* The tables of the report for people: rows, and ranks. */
#include "output/format.h"
#include "output/table.h"
#include "report/columns.h"
#include "report/filter.h"
#include "report/print.h"

#include <inttypes.h>
#include <stdlib.h>

#define RANKS_SHOWN 32 /* more ranks than this: only the ends of the list */
#define RANKS_EACH_END 8

/* ---- tables -----------------------------------------------------------------------------------
 */

static bool is_rare(const struct sg_column *column)
{
    return (column->where & SG_COLUMN_NONZERO) != 0;
}

/* The rows of a table. */
struct rows {
    const struct sg_report *report;
    const struct sg_report_site *sites;
    uint32_t count;
};

static bool is_shown(const struct sg_column *column, unsigned where, const struct rows *rows)
{
    bool shown = (column->where & where) != 0;

    if (!shown || !is_rare(column))
        return shown;
    shown = false;
    for (uint32_t i = 0; i < rows->count && !shown; i++)
        shown = column->figure(rows->report, &rows->sites[i]) > 0;
    return shown;
}

/* Whether a row has anything in a table of which it may have nothing. */
static bool has_part(const struct sg_report *report, const struct sg_report_site *site,
                     unsigned where)
{
    bool part = where != SG_COLUMN_MESSAGES;

    for (size_t i = 0; i < sg_column_count && !part; i++)
        part = is_rare(&sg_columns[i]) && (sg_columns[i].where & where) != 0 &&
               sg_columns[i].figure(report, site) > 0;
    return part;
}

/* The rows that have a part there, with those columns that belong there; nothing without rows. */
static enum sg_status put_rows(const struct rows *rows, unsigned where, FILE *out)
{
    struct sg_table_column *about = calloc(sg_column_count, sizeof *about);
    const struct sg_column **shown = calloc(sg_column_count, sizeof *shown);
    struct sg_table table = {.columns = about};
    enum sg_status status = SG_ERR_MEMORY;

    if (about == NULL || shown == NULL) {
        sg_log("report: out of memory");
        goto out;
    }
    for (size_t i = 0; i < sg_column_count; i++) {
        const struct sg_column *column = &sg_columns[i];

        if (!is_shown(column, where, rows))
            continue;
        about[table.column_count] = (struct sg_table_column){.header = column->header,
                                                             .left = column->left,
                                                             .flexible = column->flexible,
                                                             .max_width = column->max_width};
        shown[table.column_count++] = column;
    }
    for (uint32_t row = 0; row < rows->count; row++) {
        const struct sg_report_site *site = &rows->sites[row];

        for (size_t i = 0; i < table.column_count && has_part(rows->report, site, where); i++)
            sg_table_add(&table, sg_column_text(shown[i], rows->report, site));
    }
    status = SG_OK;
    if (table.cell_count > 0 || table.failed) {
        status = sg_table_print(&table, sg_table_width(out), out);
        fputc('\n', out);
    }
out:
    sg_table_clear(&table);
    free(about);
    free(shown);
    return status;
}

enum sg_status sg_report_print_rows(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out)
{
    static const unsigned tables[] = {SG_COLUMN_COSTS, SG_COLUMN_PLACES, SG_COLUMN_MESSAGES};
    const struct rows rows = {
        .report = report,
        .sites = options->comms ? report->sites : report->sums,
        .count = sg_print_count(options, options->comms ? report->site_count : report->sum_count)};
    enum sg_status status = SG_OK;

    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && status == SG_OK; i++)
        status = put_rows(&rows, tables[i], out);
    return status;
}

/* ---- ranks ------------------------------------------------------------------------------------
 */

struct ranked {
    uint32_t rank;
    struct sg_report_rank of;
};

static int by_blocked(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    if (a->of.blocked_ns != b->of.blocked_ns)
        return a->of.blocked_ns < b->of.blocked_ns ? 1 : -1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static void add_rank(struct sg_table *table, const struct ranked *ranked, bool threaded)
{
    const struct sg_report_rank *rank = &ranked->of;
    char run[SG_FORMAT_BYTES], elsewhere[SG_FORMAT_BYTES], blocked[SG_FORMAT_BYTES],
        share[SG_FORMAT_BYTES];

    sg_format_ns(rank->run_ns, run);
    sg_format_ns(sg_rank_elsewhere_ns(rank), elsewhere);
    sg_format_ns(rank->blocked_ns, blocked);
    sg_format_share(rank->blocked_ns, sg_rank_processor_ns(rank), share);
    sg_table_addf(table, "%" PRIu32, ranked->rank);
    sg_table_addf(table, "%s", run);
    sg_table_addf(table, "%s", elsewhere);
    sg_table_addf(table, "%s", blocked);
    sg_table_addf(table, "%s", share);
    if (threaded)
        sg_table_addf(table, "%" PRIu32, rank->threads);
}

/* Of a part of the calls: what each rank has of it. */
static enum sg_status put_ranks_of_part(const struct sg_report *report, FILE *out)
{
    static const struct sg_table_column columns[] = {
        {.header = "rank"},    {.header = "calls"}, {.header = "wait"},
        {.header = "blocked"}, {.header = "share"}, {.header = "last"},
    };
    struct sg_table table = {.columns = columns,
                             .column_count = sizeof columns / sizeof columns[0]};
    enum sg_status status;

    for (uint32_t i = 0; i < report->rank_count; i++) {
        const struct sg_report_rank *rank = &report->ranks[i];
        char wait[SG_FORMAT_BYTES], blocked[SG_FORMAT_BYTES], share[SG_FORMAT_BYTES];

        if (!sg_filter_takes_rank(report->filter, i) || rank->calls + rank->last_count == 0)
            continue;
        sg_format_ns(rank->wait_ns, wait);
        sg_format_ns(rank->blocked_ns, blocked);
        sg_format_share(rank->blocked_ns, sg_rank_processor_ns(rank), share);
        sg_table_addf(&table, "%" PRIu32, i);
        sg_table_addf(&table, "%" PRIu64, rank->calls);
        sg_table_addf(&table, "%s", report->has_events ? wait : "-");
        sg_table_addf(&table, "%s", blocked);
        sg_table_addf(&table, "%s", share);
        sg_table_addf(&table, "%" PRIu64, rank->last_count);
    }
    status = sg_table_print(&table, sg_table_width(out), out);
    sg_table_clear(&table);
    return status;
}

enum sg_status sg_report_print_ranks(const struct sg_report *report, FILE *out)
{
    static const struct sg_table_column columns[] = {
        {.header = "rank"},    {.header = "run time"}, {.header = "elsewhere"},
        {.header = "blocked"}, {.header = "share"},    {.header = "threads"},
    };
    struct sg_table table = {.columns = columns,
                             .column_count = sizeof columns / sizeof columns[0]};
    struct ranked *ranks = calloc((size_t)report->rank_count + 1, sizeof *ranks);
    bool all = report->rank_count <= RANKS_SHOWN, threaded = false;
    enum sg_status status;

    if (sg_filter_is_set(report->filter)) {
        free(ranks);
        return put_ranks_of_part(report, out);
    }
    if (ranks == NULL) {
        sg_log("report: out of memory");
        return SG_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < report->rank_count; i++) {
        ranks[i] = (struct ranked){.rank = i, .of = report->ranks[i]};
        threaded = threaded || report->ranks[i].threads > 1;
    }
    table.column_count -= !threaded;
    if (!all) {
        qsort(ranks, report->rank_count, sizeof *ranks, by_blocked);
        fprintf(out, "the %d most and the %d least blocked of %" PRIu32 " ranks:\n", RANKS_EACH_END,
                RANKS_EACH_END, report->rank_count);
    }
    for (uint32_t i = 0; i < report->rank_count; i++) {
        if (all || i < RANKS_EACH_END || i >= report->rank_count - RANKS_EACH_END)
            add_rank(&table, &ranks[i], threaded);
    }
    status = sg_table_print(&table, sg_table_width(out), out);
    sg_table_clear(&table);
    free(ranks);
    return status;
}
