/* The report for people at a terminal: what ran, where skew cost time and how much (text_head.c),
 * the table of call sites and where they are in the program, the ranks, and notes on how reliable
 * the figures are.
 */
#include "output/format.h"
#include "report/before/print.h"
#include "report/causes/print.h"
#include "report/columns.h"
#include "report/filter.h"
#include "report/learned/print.h"
#include "report/path/print.h"
#include "report/print.h"
#include "report/profile/print.h"
#include "report/slices/print.h"
#include "report/waiting.h"
#include "report/waitstates/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_filter(const struct sg_filter *filter, FILE *out)
{
    const char *before = "\nonly ";
    const struct {
        const char *name, *text;
    } parts[] = {{"site ", filter != NULL ? filter->site : NULL},
                 {"communicator ", filter != NULL ? filter->comm : NULL},
                 {"ranks ", filter != NULL ? filter->ranks : NULL},
                 {"time ", filter != NULL ? filter->time : NULL}};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].text == NULL)
            continue;
        fprintf(out, "%s%s", before, parts[i].name);
        sg_format_put(parts[i].text, out);
        before = ", ";
    }
}

static void put_header(const struct sg_report *report, FILE *out)
{
    sg_format_put(report->program != NULL ? report->program : "program not known", out);
    fprintf(out, ", %" PRIu32 " rank%s, run time %s%s%s\n", report->rank_count,
            report->rank_count == 1 ? "" : "s", SG_NS(report->run_ns),
            report->has_events ? "" : ", statistics only", report->partial ? ", PARTIAL" : "");
    sg_format_put(report->path, out);
    put_filter(report->filter, out);
    fputs("\n\n", out);
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* The time that stagger itself adds, from the calls that were timed. */
static void put_overhead(const struct sg_report *report, FILE *out)
{
    if (report->overhead_calls > 0)
        fprintf(out,
                "stagger itself: %s a call, %s of processor time, by %" PRIu64
                " calls that were timed\n",
                SG_NS(report->overhead_ns / report->overhead_calls),
                SG_SHARE(sg_report_overhead_ns(report), report->ranks_run_ns),
                report->overhead_calls);
}

static void put_left_out(const struct sg_report *report, const struct sg_print_options *options,
                         FILE *out)
{
    uint32_t all = options->comms ? report->site_count : report->sum_count;

    if (sg_print_count(options, all) < all)
        fprintf(out, "note: %" PRIu32 " of %" PRIu32 " %s are shown\n",
                sg_print_count(options, all), all, options->comms ? "rows" : "call sites");
}

static void put_clocks(const struct sg_report *report, FILE *out)
{
    const char *known = sg_report_has_one_clock(report) ? "one clock"
                        : report->has_offset_error      ? "offsets known within "
                                                        : "no offsets recorded";
    bool within = report->has_offset_error && !sg_report_has_one_clock(report);

    if (report->clock_violations > 0)
        fprintf(out,
                "note: clocks contradict each other in %" PRIu64
                " instance%s, by up to %s: smaller skews and waits mean nothing\n",
                report->clock_violations, report->clock_violations == 1 ? "" : "s",
                SG_NS(report->largest_violation_ns));
    if (report->locations_without_offset > 0)
        fprintf(out, "note: %" PRIu64 " locations have no clock offsets, others have\n",
                report->locations_without_offset);
    fprintf(out, "clocks: %s%s, %" PRIu64 " violation%s\n", known,
            within ? SG_NS(report->offset_error_ns) : "", report->clock_violations,
            report->clock_violations == 1 ? "" : "s");
}

static void put_notes(const struct sg_report *report, const struct sg_print_options *options,
                      FILE *out)
{
    uint64_t unseen = report->has_events ? sg_report_unseen_calls(report) : 0;

    fputc('\n', out);
    put_left_out(report, options, out);
    sg_calls_print_left_out(report, options, out);
    sg_waitstates_print_notes(report, options, out);
    sg_path_print_notes(report, options, out);
    sg_before_print_missing(report, out);
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
    /* If there are statistics, the note above includes these calls. */
    else if (report->dropped_calls > 0)
        fprintf(out,
                "note: %" PRIu64 " calls are left out: their instances are incomplete, or recording"
                " had stopped\n",
                report->dropped_calls);
    if (report->unmanaged_nonblocking > 0 && report->site_count > 0)
        fprintf(out, "note: %" PRIu64 " nonblocking calls were left to MPICH, %s\n",
                report->unmanaged_nonblocking,
                report->calls != NULL ? "and are counted among all calls only" : "not recorded");
    if (report->unmanaged_calls > report->unmanaged_nonblocking)
        fprintf(out, "note: %" PRIu64 " collectives were passed through%s\n",
                report->unmanaged_calls - report->unmanaged_nonblocking,
                report->calls != NULL ? ", and are counted among all calls only" : " unrecorded");
    put_overhead(report, out);
    if (report->has_events)
        put_clocks(report, out);
}

enum sg_status sg_report_print_text(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out)
{
    enum sg_status status;

    if (options->distribution != NULL)
        return sg_calls_print_distribution(report, options, out);
    if (options->has_slices)
        return sg_slices_print_text(report, options, out);
    if (options->primitives)
        return sg_calls_print_primitives(report, options, out);
    put_header(report, out);
    sg_report_print_waiting(report, out);
    sg_calls_print_share(report, out);
    if (report->site_count == 0 && sg_filter_is_set(report->filter)) {
        fputs("no call is like that\n\n", out);
    } else if (report->site_count == 0) {
        fputs("no barrier, reduce, allreduce or bcast is recorded", out);
        if (report->unmanaged_nonblocking > 0)
            fprintf(out, ": %" PRIu64 " nonblocking calls were left to MPICH",
                    report->unmanaged_nonblocking);
        fputs("\n\n", out);
    } else {
        sg_report_print_summary(report, out);
    }
    status = sg_calls_print_functions(report, options, out);
    if (status == SG_OK && report->site_count > 0)
        status = sg_report_print_rows(report, options, out);
    if (status == SG_OK)
        status = sg_waitstates_print_skews(report, options, out);
    if (status == SG_OK)
        status = sg_calls_print_sites(report, options, out);
    if (status == SG_OK)
        status = sg_calls_print_messages(report, options, out);
    if (status == SG_OK)
        status = sg_waitstates_print(report, options, out);
    if (status == SG_OK)
        status = sg_causes_print(report, options, out);
    if (status == SG_OK)
        status = sg_path_print(report, options, out);
    if (status == SG_OK)
        status = sg_before_print(report, options, out);
    if (status == SG_OK)
        status = sg_report_print_trials(report, out);
    if (status == SG_OK)
        status = sg_learned_print(report, out);
    if (status == SG_OK)
        status = sg_report_print_ranks(report, out);
    put_notes(report, options, out);
    return status;
}
