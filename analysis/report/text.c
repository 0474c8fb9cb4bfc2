/* The report for people at a terminal: what ran, what skew cost and where, the table of call
 * sites, where those are, the ranks, and what to know before believing the figures.
 */
#include "report/columns.h"
#include "report/format.h"
#include "report/print.h"
#include "report/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 120
#define PLACE_COLUMNS 28 /* of a name in a sentence */
#define RANKS_SHOWN 32   /* more ranks than this: only the ends of the list */
#define RANKS_EACH_END 8

static void put_clean(const char *text, FILE *out)
{
    char *clean = sg_format_clean(text, true);

    fputs(clean != NULL ? clean : "?", out);
    free(clean);
}

static void put_ns(uint64_t ns, FILE *out)
{
    char text[SG_FORMAT_BYTES];

    sg_format_ns(ns, text);
    fputs(text, out);
}

static void put_share(uint64_t part, uint64_t whole, FILE *out)
{
    char text[SG_FORMAT_BYTES];

    sg_format_share(part, whole, text);
    fputs(text, out);
}

static void put_column(const char *name, const struct sg_report *report,
                       const struct sg_report_site *site, FILE *out)
{
    char *text = sg_column_text(sg_column_find(name), report, site);

    if (text != NULL)
        sg_format_shorten(text, PLACE_COLUMNS);
    fputs(text != NULL ? text : "?", out);
    free(text);
}

static void put_header(const struct sg_report *report, FILE *out)
{
    put_clean(report->program != NULL ? report->program : "program not known", out);
    fprintf(out, ", %" PRIu32 " rank%s, run time ", report->rank_count,
            report->rank_count == 1 ? "" : "s");
    put_ns(report->run_ns, out);
    fprintf(out, "%s%s\n", report->has_events ? "" : ", statistics only",
            report->partial ? ", PARTIAL" : "");
    put_clean(report->path, out);
    fputs("\n\n", out);
}

/* ---- the summary ------------------------------------------------------------------------------
 */

static const struct sg_report_site *most_waited(const struct sg_report *report)
{
    const struct sg_report_site *worst = NULL;

    for (uint32_t i = 0; i < report->site_count; i++) {
        const struct sg_report_site *site = &report->sites[i];

        if (site->wait_ns > 0 && (worst == NULL || site->wait_ns > worst->wait_ns))
            worst = site;
    }
    return worst;
}

static const struct sg_report_site *most_skewed(const struct sg_report *report)
{
    const struct sg_report_site *worst = NULL;

    for (uint32_t i = 0; i < report->site_count; i++) {
        const struct sg_report_site *site = &report->sites[i];

        if (site->skew_max_ns > 0 && (worst == NULL || site->skew_max_ns > worst->skew_max_ns))
            worst = site;
    }
    return worst;
}

static void put_place(const struct sg_report *report, const struct sg_report_site *site, FILE *out)
{
    put_column("op", report, site, out);
    if (site->has_id) {
        fputs(" at ", out);
        put_column("site", report, site, out);
    }
    fputs(" on ", out);
    put_column("comm", report, site, out);
}

static void put_worst_site(const struct sg_report *report, FILE *out)
{
    const struct sg_report_site *site = most_waited(report);

    if (site == NULL) {
        fputs("most of it         nowhere: no rank waited\n", out);
        return;
    }
    fputs("most of it         ", out);
    put_share(site->wait_ns, sg_report_wait_ns(report), out);
    fputs(" in ", out);
    put_place(report, site, out);
    if (site->last_rank >= 0) {
        fprintf(out, ", rank %" PRId64 " last in ", site->last_rank);
        put_share(site->last_count, site->instances, out);
        fprintf(out, " of %" PRIu64, site->instances);
    }
    fputc('\n', out);
}

static void put_worst_instance(const struct sg_report *report, FILE *out)
{
    const struct sg_report_site *site = most_skewed(report);

    if (site == NULL) {
        fputs("worst instance     none: all members arrived together\n", out);
        return;
    }
    fputs("worst instance     ", out);
    put_ns(site->skew_max_ns, out);
    fputs(" of skew: ", out);
    put_place(report, site, out);
    fprintf(out, ", #%" PRIu64 ", at ", site->worst_seq);
    put_column("at", report, site, out);
    fputc('\n', out);
}

static void put_summary(const struct sg_report *report, FILE *out)
{
    if (report->has_events) {
        fputs("lost waiting       ", out);
        /* Calls that are not in the events have waited too. */
        fputs(sg_report_unseen_calls(report) > 0 ? "at least " : "", out);
        put_share(sg_report_wait_ns(report), report->ranks_run_ns, out);
        fputs(" of processor time (", out);
        put_ns(sg_report_wait_ns(report), out);
        fputs(" of ", out);
        put_ns(report->ranks_run_ns, out);
        fputs(")\n", out);
        put_worst_site(report, out);
        put_worst_instance(report, out);
    } else {
        fputs("in collectives     ", out);
        put_share(sg_report_blocked_ns(report), report->ranks_run_ns, out);
        fputs(" of processor time (", out);
        put_ns(sg_report_blocked_ns(report), out);
        fputs(" of ", out);
        put_ns(report->ranks_run_ns, out);
        fputs(")\nlost waiting       not known: no events were recorded (STAGGER_TRACE=otf2)\n",
              out);
    }
    fputc('\n', out);
}

/* ---- tables -----------------------------------------------------------------------------------
 */

static bool is_rare(const struct sg_column *column)
{
    return (column->where & SG_COLUMN_NONZERO) != 0;
}

static bool is_shown(const struct sg_column *column, unsigned where, const struct sg_report *report,
                     uint32_t count)
{
    bool shown = (column->where & where) != 0;

    if (!shown || !is_rare(column))
        return shown;
    shown = false;
    for (uint32_t i = 0; i < count && !shown; i++)
        shown = column->figure(report, &report->sites[i]) > 0;
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
static enum sg_status put_rows(const struct sg_report *report, uint32_t count, unsigned where,
                               FILE *out)
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

        if (!is_shown(column, where, report, count))
            continue;
        about[table.column_count] = (struct sg_table_column){.header = column->header,
                                                             .left = column->left,
                                                             .flexible = column->flexible,
                                                             .max_width = column->max_width};
        shown[table.column_count++] = column;
    }
    for (uint32_t row = 0; row < count; row++) {
        const struct sg_report_site *site = &report->sites[row];

        for (size_t i = 0; i < table.column_count && has_part(report, site, where); i++)
            sg_table_add(&table, sg_column_text(shown[i], report, site));
    }
    status = SG_OK;
    if (table.cell_count > 0 || table.failed) {
        status = sg_table_print(&table, WIDTH, out);
        fputc('\n', out);
    }
out:
    sg_table_clear(&table);
    free(about);
    free(shown);
    return status;
}

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

static enum sg_status put_ranks(const struct sg_report *report, FILE *out)
{
    static const struct sg_table_column columns[] = {
        {.header = "rank"},    {.header = "run time"}, {.header = "compute"},
        {.header = "blocked"}, {.header = "share"},
    };
    struct sg_table table = {.columns = columns,
                             .column_count = sizeof columns / sizeof columns[0]};
    struct ranked *ranks = calloc((size_t)report->rank_count + 1, sizeof *ranks);
    bool all = report->rank_count <= RANKS_SHOWN;
    enum sg_status status;

    if (ranks == NULL) {
        sg_log("report: out of memory");
        return SG_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < report->rank_count; i++)
        ranks[i] = (struct ranked){.rank = i, .of = report->ranks[i]};
    if (!all) {
        qsort(ranks, report->rank_count, sizeof *ranks, by_blocked);
        fprintf(out, "the %d most and the %d least blocked of %" PRIu32 " ranks:\n", RANKS_EACH_END,
                RANKS_EACH_END, report->rank_count);
    }
    for (uint32_t i = 0; i < report->rank_count; i++) {
        const struct sg_report_rank *of = &ranks[i].of;
        char run[SG_FORMAT_BYTES], compute[SG_FORMAT_BYTES], blocked[SG_FORMAT_BYTES],
            share[SG_FORMAT_BYTES];

        if (!all && i >= RANKS_EACH_END && i < report->rank_count - RANKS_EACH_END)
            continue;
        sg_format_ns(of->run_ns, run);
        sg_format_ns(of->run_ns > of->blocked_ns ? of->run_ns - of->blocked_ns : 0, compute);
        sg_format_ns(of->blocked_ns, blocked);
        sg_format_share(of->blocked_ns, of->run_ns, share);
        sg_table_addf(&table, "%" PRIu32, ranks[i].rank);
        sg_table_addf(&table, "%s", run);
        sg_table_addf(&table, "%s", compute);
        sg_table_addf(&table, "%s", blocked);
        sg_table_addf(&table, "%s", share);
    }
    status = sg_table_print(&table, WIDTH, out);
    sg_table_clear(&table);
    free(ranks);
    return status;
}

/* ---- notes ------------------------------------------------------------------------------------
 */

/* What stagger itself took, as far as calls were timed. */
static void put_overhead(const struct sg_report *report, FILE *out)
{
    if (report->overhead_calls == 0)
        return;
    fputs("stagger itself: ", out);
    put_ns(report->overhead_ns / report->overhead_calls, out);
    fputs(" a call, ", out);
    put_share(sg_report_overhead_ns(report), report->ranks_run_ns, out);
    fprintf(out, " of processor time, by %" PRIu64 " calls that were timed\n",
            report->overhead_calls);
}

static void put_notes(const struct sg_report *report, uint32_t count, FILE *out)
{
    uint64_t unseen = report->has_events ? sg_report_unseen_calls(report) : 0;

    fputc('\n', out);
    if (count < report->site_count)
        fprintf(out, "note: %" PRIu32 " of %" PRIu32 " rows are shown\n", count,
                report->site_count);
    if (report->partial)
        fprintf(out, "note: partial: %s\n",
                report->has_events
                    ? "the archive does not hold the whole run"
                    : "some logs are missing, damaged or end before MPI_Finalize; run times"
                      " are at least what is shown");
    if (unseen > 0)
        fprintf(out,
                "note: %" PRIu64 " calls are not in the events: calls, bytes and blocked are of all"
                " calls, skew and wait of the others\n",
                unseen);
    /* With statistics at hand the note above has counted these among others. */
    else if (report->dropped_calls > 0)
        fprintf(out,
                "note: %" PRIu64 " calls are left out: their instances are incomplete, or recording"
                " had stopped\n",
                report->dropped_calls);
    if (report->unmanaged_calls > 0)
        fprintf(out, "note: %" PRIu64 " collectives were passed through unrecorded\n",
                report->unmanaged_calls);
    put_overhead(report, out);
    if (!report->has_events)
        return;
    if (report->clock_violations > 0) {
        fprintf(out, "note: clocks contradict each other in %" PRIu64 " instance%s, by up to ",
                report->clock_violations, report->clock_violations == 1 ? "" : "s");
        put_ns(report->largest_violation_ns, out);
        fputs(": smaller skews and waits mean nothing\n", out);
    }
    if (report->locations_without_offset > 0)
        fprintf(out, "note: %" PRIu64 " locations have no clock offsets, others have\n",
                report->locations_without_offset);
    fputs("clocks: ", out);
    if (report->has_offset_error) {
        fputs("offsets known within ", out);
        put_ns(report->offset_error_ns, out);
    } else {
        fputs("no offsets recorded", out);
    }
    fprintf(out, ", %" PRIu64 " violations\n", report->clock_violations);
}

enum sg_status sg_report_print_text(const struct sg_report *report, uint32_t site_count, FILE *out)
{
    enum sg_status status = SG_OK;

    put_header(report, out);
    if (report->site_count == 0) {
        fputs("no barrier, reduce or allreduce is recorded\n\n", out);
    } else {
        put_summary(report, out);
        status = put_rows(report, site_count, SG_COLUMN_COSTS, out);
        if (status == SG_OK)
            status = put_rows(report, site_count, SG_COLUMN_PLACES, out);
        if (status == SG_OK)
            status = put_rows(report, site_count, SG_COLUMN_MESSAGES, out);
    }
    if (status == SG_OK)
        status = sg_report_print_trials(report, out);
    if (status == SG_OK)
        status = put_ranks(report, out);
    put_notes(report, site_count, out);
    return status;
}
