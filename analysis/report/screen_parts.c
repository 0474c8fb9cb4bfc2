/* Parts of the first screen that the page, JSON and the other sections have, too: figures, the
 * sites to list, lines on what would help, and notes.
 */
#include "core/text.h"
#include "output/format.h"
#include "report/critical_path.h"
#include "report/report_section.h"
#include "report/wait_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HELPS 3
#define LEAST_SHARE 0.001 /* of the run: shorter waits are counted, not listed */
#define MIB_SHIFT 20

/* ---- figures and sites ----------------------------------------------------------------------- */

/* Separates figures and units: "1.44 s", "12.3 %", "2 d 3 h". */
static void put_spaced(const char *text, FILE *out)
{
    bool was_digit = false;

    for (const char *at = text; *at != '\0'; at++) {
        bool is_digit = (*at >= '0' && *at <= '9') || *at == '.';

        if (at > text && is_digit != was_digit)
            fputc(' ', out);
        fputc(*at, out);
        was_digit = is_digit;
    }
}

void sg_screen_put_time(uint64_t ns, FILE *out)
{
    put_spaced(SG_NS(ns), out);
}

void sg_screen_put_share(double share, int decimals, FILE *out)
{
    double least = decimals > 0 ? 0.001 : 0.01;

    if (!(share >= 0))
        fputc('-', out);
    else if (share > 0 && share < least)
        fprintf(out, "< %.*f %%", decimals, 100 * least);
    else
        fprintf(out, "%.*f %%", decimals, 100 * share);
}

uint32_t sg_screen_sites(const struct sg_report *report, const struct sg_print_options *options)
{
    const struct sg_waitstates *states = report->waitstates;
    uint32_t most = options->top != 0 && options->top < SG_SCREEN_SITES ? options->top
                                                                        : SG_SCREEN_SITES,
             count = 0;

    while (count < most && count < states->site_count &&
           (count == 0 ||
            sg_screen_share(states->sites[count].of.wait_ns, report->ranks_run_ns) >= LEAST_SHARE))
        count++;
    return count;
}

/* ---- what would help ------------------------------------------------------------------------- */

/* columns: of a line; 0: it may be of any length. */
struct help {
    const struct sg_report *report;
    size_t columns;
    FILE *out;
};

/* Prints one row; is_short: only what is necessary. */
typedef void put_fn(const struct sg_report *report, const void *of, bool is_short, FILE *out);

static bool is_too_long(const struct help *help, const char *line)
{
    return line == NULL || (help->columns > 0 && sg_format_columns(line) > help->columns);
}

static void put_row(const struct help *help, put_fn *put, const void *row)
{
    char *line = NULL;

    for (int is_short = 0; is_short < 2 && is_too_long(help, line); is_short++) {
        struct sg_format_text text;

        free(line);
        line = NULL;
        if (sg_format_open(&text)) {
            put(help->report, row, is_short, text.out);
            line = sg_format_take_clean(&text);
        }
    }
    if (line != NULL && is_too_long(help, line))
        sg_format_shorten_interval(line, help->columns);
    fprintf(help->out, "%s\n", line != NULL ? line : "?");
    free(line);
}

/* Prints a line for each row that is taken, of at most `most`. */
static void each_help(const struct help *help, uint32_t most, put_fn *put,
                      bool (*takes)(const struct sg_report *report, const void *of), const void *of,
                      uint32_t count, size_t bytes)
{
    uint32_t printed = 0;

    for (uint32_t i = 0; i < count && printed < most; i++) {
        const void *row = (const char *)of + i * bytes;

        if (takes(help->report, row)) {
            put_row(help, put, row);
            printed++;
        }
    }
}

/* The path must have been there often enough for its error to mean something. */
static bool saves(const struct sg_report *report, const struct sg_path_row *row)
{
    return !row->is_call && row->times >= SG_REASON_SAMPLES &&
           row->saving_ns > row->saving_error_ns &&
           sg_screen_share(row->saving_ns, report->run_ns) >= 0.01;
}

static bool is_between_same_lines(const struct sg_path_row *a, const struct sg_path_row *b)
{
    return sg_waitstate_is_same_line(&a->after, &b->after) &&
           sg_waitstate_is_same_line(&a->until, &b->until);
}

/* The intervals of an unrolled loop are one line, at the first of them. */
static bool takes_saving(const struct sg_report *report, const void *of)
{
    const struct sg_path_row *row = of, *before = report->critical_path->rows;

    if (!saves(report, row))
        return false;
    while (before < row && !(saves(report, before) && is_between_same_lines(before, row)))
        before++;
    return before == row;
}

static struct sg_path_row join_savings(const struct sg_report *report,
                                       const struct sg_path_row *first)
{
    const struct sg_path *path = report->critical_path;
    struct sg_path_row sum = *first;

    for (const struct sg_path_row *row = first + 1; row < path->rows + path->row_count; row++) {
        if (!saves(report, row) || !is_between_same_lines(first, row))
            continue;
        sum.saving_ns += row->saving_ns;
        sum.saving_error_ns =
            (uint64_t)llround(hypot((double)sum.saving_error_ns, (double)row->saving_error_ns));
    }
    return sum;
}

static void put_saving(const struct sg_report *report, const void *of, bool is_short, FILE *out)
{
    const struct sg_path_row joined = join_savings(report, of), *row = &joined;
    const struct sg_report_site *after = &row->after.site, *until = &row->until.site;

    fputs("balance at ", out);
    sg_waitstate_put_interval(&row->after, &row->until, out);
    /* Intervals between the same functions are told apart by the line of their end. */
    if (!is_short && until->file != NULL && until->function != NULL &&
        (after->function == NULL || strcmp(after->function, until->function) != 0))
        fprintf(out, " (%s:%" PRIu32 ")", sg_text_base_name(until->file), until->line);
    fputs(" would save ", out);
    sg_screen_put_time(row->saving_ns, out);
    fputs(" +- ", out);
    sg_screen_put_time(row->saving_error_ns, out);
    fputs(" (", out);
    sg_screen_put_share(sg_screen_share(row->saving_ns, report->run_ns), 0, out);
    fputc(')', out);
}

static bool takes_trial(const struct sg_report *report, const void *of)
{
    const struct sg_report_trial *trial = of;

    return trial->verdict[SG_TRIED_BLOCKED] == SG_TRIED_WINNER && trial->arm_count > 1;
}

/* Candidates are sorted by cost. */
static void put_trial(const struct sg_report *report, const void *of, bool is_short, FILE *out)
{
    const struct sg_report_trial *trial = of;
    const struct sg_report_arm *best = &trial->arms[0], *next = &trial->arms[1];
    double next_ns = next->cost[SG_TRIED_BLOCKED].mean;

    fprintf(out, "%s", sg_trial_operation(trial));
    if (trial->function != NULL || trial->file != NULL) {
        fputs(" at ", out);
        sg_format_put(trial->function != NULL ? trial->function : "", out);
        if (trial->file != NULL)
            fprintf(out, "%s%s:%" PRIu32, trial->function != NULL ? " " : "",
                    sg_text_base_name(trial->file), trial->line);
    }
    fprintf(out, ": %s costs ", best->text);
    sg_screen_put_share(next_ns > 0 ? (next_ns - best->cost[SG_TRIED_BLOCKED].mean) / next_ns : -1,
                        0, out);
    fprintf(out, " less than %s (--trials)", next->text);
}

static bool takes_threads(const struct sg_report *report, const void *of)
{
    return sg_waitstate_is_by_threads(report, of);
}

static void put_threads(const struct sg_report *report, const void *of, bool is_short, FILE *out)
{
    fputs("fewer threads a rank, or OMP_WAIT_POLICY=passive: threads that wait keep processors"
          " from others",
          out);
}

void sg_screen_put_help(const struct sg_report *report, const struct sg_print_options *options,
                        size_t columns, FILE *out)
{
    const struct help help = {report, columns, out};
    const struct sg_path *path = report->critical_path;

    if (report->waitstates != NULL)
        each_help(&help, 1, put_threads, takes_threads, report->waitstates->sites,
                  sg_screen_sites(report, options), sizeof *report->waitstates->sites);
    if (path != NULL)
        each_help(&help, HELPS, put_saving, takes_saving, path->rows, path->row_count,
                  sizeof *path->rows);
    each_help(&help, HELPS, put_trial, takes_trial, report->trials, report->trial_count,
              sizeof *report->trials);
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* Collectives that have no rows. */
static void put_unmanaged(const struct sg_report *report, FILE *out)
{
    if (report->unmanaged_nonblocking > 0)
        fprintf(out, "note: %" PRIu64 " nonblocking calls were left to MPICH, %s\n",
                report->unmanaged_nonblocking,
                report->calls != NULL ? "and are counted among all calls only" : "not recorded");
    if (report->unmanaged_full > 0)
        fprintf(out,
                "note: %" PRIu64 " of the collectives passed through have no row: a rank has at"
                " most 32768 rows of call site, communicator and size\n",
                report->unmanaged_full);
    if (report->unmanaged_calls > report->unmanaged_nonblocking)
        fprintf(out, "note: %" PRIu64 " collectives were passed through%s\n",
                report->unmanaged_calls - report->unmanaged_nonblocking,
                report->calls != NULL ? ", and are counted among all calls only" : " unrecorded");
}

static void put_off(const struct sg_report *report, FILE *out)
{
    if (report->off_ns > 0)
        fprintf(
            out,
            "note: recording was off for %s of %s (MPI_Pcontrol): calls in that time are not shown,"
            "\n      and all of it counts as work\n",
            SG_NS(report->off_ns), SG_NS(report->run_ns));
}

void sg_report_put_notes(const struct sg_report *report, bool all, FILE *out)
{
    uint64_t unseen = report->has_events ? sg_report_unseen_calls(report) : 0;
    char covered[SG_COVERAGE_BYTES];
    bool is_full = sg_report_coverage(report, covered) != NULL;

    put_off(report, out);
    if (is_full)
        fprintf(out, "note: partial: a log was full, so waits, causes and the path are of %s\n",
                covered);
    if (is_full && report->wanted_bytes > 0)
        fprintf(out, "      to record all: STAGGER_TRACE_BYTES=%" PRIu64 "m\n",
                report->wanted_bytes >> MIB_SHIFT);
    if (!is_full && report->partial && report->living == 0)
        fprintf(out, "note: partial: %s\n",
                report->has_events ? "the archive does not hold the whole run"
                                   : "some logs are missing, damaged or end before MPI_Finalize;\n"
                                     "      run times are at least what is shown");
    if (unseen > 0 && (all || !is_full))
        fprintf(out,
                "note: %" PRIu64 " calls are not in the events (STAGGER_TRACE_BYTES): skew and wait"
                " are of the others\n",
                unseen);
    if (report->clock_violations > 0)
        fprintf(out,
                "note: clocks contradict each other in %" PRIu64
                " instance%s, by up to %s: smaller waits mean nothing\n",
                report->clock_violations, report->clock_violations == 1 ? "" : "s",
                SG_NS(report->largest_violation_ns));
    /* With statistics, the note above includes these calls. */
    if (all && unseen == 0 && report->dropped_calls > 0)
        fprintf(out,
                "note: %" PRIu64 " calls are left out: their instances are incomplete, or recording"
                " had stopped\n",
                report->dropped_calls);
    if (all)
        put_unmanaged(report, out);
}
