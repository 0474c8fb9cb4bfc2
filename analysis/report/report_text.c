/* The report for people at a terminal: the run, the time that skew cost and the places where it
 * did, the table of call sites and their source lines, the ranks, and notes on the reliability of
 * the figures.
 *
 * Also the head on its own, in three lines for the end of a run, and the text of slices.
 */
#include "report/report_text.h"

#include "output/format.h"
#include "output/table.h"
#include "report/between_calls.h"
#include "report/cause_print.h"
#include "report/critical_path.h"
#include "report/filter.h"
#include "report/learned_print.h"
#include "report/profile_calls.h"
#include "report/profile_tables.h"
#include "report/report_columns.h"
#include "report/wait_print.h"
#include "report/wait_sums.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum sg_status sg_slices_print_text(const struct sg_report *report,
                                           const struct sg_print_options *options, FILE *out);

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
    /* With statistics, the note above includes these calls. */
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

/* ---- the head: losses of the run, one per line ----------------------------------------------- */

static void put_column(const char *name, const struct sg_report *report,
                       const struct sg_report_site *site, FILE *out)
{
    char *text = sg_site_text(name, report, site);

    fputs(text != NULL ? text : "?", out);
    free(text);
}

static void put_oversubscribed(const struct sg_report *report, FILE *out)
{
    sg_style_put_label("oversubscribed", out);
    sg_report_put_oversubscribed(report, sg_format_put, out);
    fputc('\n', out);
}

void sg_report_print_waiting(const struct sg_report *report, FILE *out)
{
    if (sg_report_is_oversubscribed(report))
        put_oversubscribed(report, out);
    if (report->waiting.told > 0) {
        sg_style_put_label("waiting", out);
        sg_report_put_waited(report, out);
        fputc('\n', out);
    }
}

static const struct sg_report_site *most_waited(const struct sg_report *report)
{
    const struct sg_report_site *worst = NULL;

    for (uint32_t i = 0; i < report->sum_count; i++) {
        const struct sg_report_site *site = &report->sums[i];

        if (site->wait_ns > 0 && (worst == NULL || site->wait_ns > worst->wait_ns))
            worst = site;
    }
    return worst;
}

/* Looks at single communicators. */
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

    sg_style_put_label("most of it", out);
    if (site == NULL) {
        fputs("nowhere: no rank waited\n", out);
        return;
    }
    fprintf(out, "%s in ", SG_SHARE(site->wait_ns, report->total.wait_ns));
    put_place(report, site, out);
    if (site->last_rank >= 0)
        fprintf(out, ", rank %" PRId64 " last in %s of %" PRIu64, site->last_rank,
                SG_SHARE(site->last_count, site->instances), site->instances);
    fputc('\n', out);
}

static void put_worst_instance(const struct sg_report *report, FILE *out)
{
    const struct sg_report_site *site = most_skewed(report);

    sg_style_put_label("worst instance", out);
    if (site == NULL) {
        fputs("none: all members arrived together\n", out);
        return;
    }
    fprintf(out, "%s of skew: ", SG_NS(site->skew_max_ns));
    put_place(report, site, out);
    fprintf(out, ", #%" PRIu64 ", at ", site->worst_seq);
    put_column("at", report, site, out);
    fputc('\n', out);
}

static void put_lost(const struct sg_report *report, FILE *out)
{
    const struct sg_report_site *total = &report->total;
    uint64_t cost_ns = report->has_events ? total->wait_ns : total->blocked_ns;

    /* Calls that are not in the events have waited, too. */
    sg_style_put_label(report->has_events ? "lost waiting" : "in collectives", out);
    fprintf(out, "%s%s of processor time (%s of %s)\n",
            report->has_events && sg_report_unseen_calls(report) > 0 ? "at least " : "",
            SG_SHARE(cost_ns, report->ranks_run_ns), SG_NS(cost_ns), SG_NS(report->ranks_run_ns));
}

void sg_report_print_summary(const struct sg_report *report, FILE *out)
{
    if (report->has_events && report->total.instances == 0) {
        sg_style_put_label("lost waiting", out);
        fputs("not known: no instance is complete\n\n", out);
        return;
    }
    put_lost(report, out);
    if (report->has_events) {
        put_worst_site(report, out);
        put_worst_instance(report, out);
        sg_causes_print_summary(report, out);
    } else {
        sg_style_put_label("lost waiting", out);
        fputs("not known: no events were recorded (STAGGER_TRACE=otf2)\n", out);
    }
    fputc('\n', out);
}

/* ---- the brief head, at the end of a run ----------------------------------------------------- */

/* The pair with the longest wait in any call. NULL if unknown, or if no wait is longer than at the
 * summary's worst site. */
static const struct sg_waitstate_pair *longest_wait(const struct sg_report *report)
{
    const struct sg_report_site *site = most_waited(report);
    const struct sg_waitstate_pair *pair = NULL;

    if (report->waitstates != NULL && report->waitstates->pair_count > 0)
        pair = &report->waitstates->pairs[0];
    return pair != NULL && (site == NULL || pair->of.wait_ns > site->wait_ns) ? pair : NULL;
}

static void put_longest_wait(const struct sg_waitstate_pair *pair, FILE *out)
{
    sg_style_put_label("longest waits", out);
    fprintf(out, "%s in ", SG_NS(pair->of.wait_ns));
    sg_waitstate_put_place(&pair->at, out);
    fprintf(out, " (%s), for rank %" PRIu32 " in ", sg_waitstate_names[pair->kind], pair->rank);
    sg_waitstate_put_place(&pair->other, out);
    fputc('\n', out);
}

void sg_report_print_brief(const struct sg_report *report, FILE *out)
{
    const struct sg_waitstate_pair *pair = longest_wait(report);
    bool has_lost = report->site_count > 0 && (!report->has_events || report->total.instances > 0);

    if (sg_report_is_oversubscribed(report))
        put_oversubscribed(report, out);
    if (!sg_report_is_oversubscribed(report) || !has_lost)
        sg_calls_print_share(report, out);
    if (has_lost)
        put_lost(report, out);
    if (pair != NULL)
        put_longest_wait(pair, out);
    else if (has_lost && report->has_events)
        put_worst_site(report, out);
}

/* ---- slices: the metrics of EMDS (stagger report --slices) ----------------------------------- */

static const struct sg_slice_metric_facts *facts_of(const void *row)
{
    return &sg_slice_metrics[((const struct sg_slices_line *)row)->metric];
}

static void print_name(const void *row, const void *context, FILE *out)
{
    fputs(facts_of(row)->name, out);
}

static void print_meaning(const void *row, const void *context, FILE *out)
{
    fputs(facts_of(row)->meaning, out);
}

static json_t *json_unit(const void *row, const void *context)
{
    return json_string(facts_of(row)->is_time ? "ns" : "count");
}

static bool is_known(const void *row)
{
    return ((const struct sg_slices_line *)row)->figures.count > 0;
}

static bool has_p95(const void *row)
{
    return is_known(row) && ((const struct sg_slices_line *)row)->figures.has_p95;
}

static void put(const void *row, bool known, double value, FILE *out)
{
    if (!known)
        fputc('-', out);
    else if (facts_of(row)->is_time)
        fprintf(out, "%.1fus", value / 1000);
    else
        fprintf(out, value == floor(value) ? "%.0f" : "%.3f", value);
}

#define FIGURE(name, known, make)                                                                  \
    static void print_##name(const void *row, const void *context, FILE *out)                      \
    {                                                                                              \
        put(row, known(row), (double)((const struct sg_slices_line *)row)->figures.name, out);     \
    }                                                                                              \
    static json_t *json_##name(const void *row, const void *context)                               \
    {                                                                                              \
        return make(known(row), ((const struct sg_slices_line *)row)->figures.name);               \
    }
FIGURE(min, is_known, sg_json_count)
FIGURE(mean, is_known, sg_json_real)
FIGURE(p95, has_p95, sg_json_count)
FIGURE(max, is_known, sg_json_count)

static json_t *json_comm(const void *row, const void *context)
{
    return sg_json_text(((const struct sg_slices_line *)row)->comm->name);
}

static json_t *json_comm_size(const void *row, const void *context)
{
    return json_integer(((const struct sg_slices_line *)row)->comm->size);
}

#define AT(member) .offset = offsetof(struct sg_slices_line, member)
static const struct sg_column columns[] = {
    {.field = "comm", .json = json_comm},
    {.field = "comm_size", .json = json_comm_size},
    {.field = "metric", .name = "metric", .header = "Metric", .left = true, .print = print_name},
    {.field = "meaning",
     .name = "meaning",
     .header = "Meaning",
     .left = true,
     .flexible = true,
     .print = print_meaning},
    {.field = "unit", .json = json_unit},
    {.field = "node", .name = "node", .header = "Node", .kind = SG_COLUMN_COUNT32, AT(node)},
    {.field = "slices",
     .name = "slices",
     .header = "Slices",
     .kind = SG_COLUMN_COUNT,
     AT(figures.count)},
    {.field = "min", .name = "min", .header = "Min", .print = print_min, .json = json_min},
    {.field = "mean", .name = "mean", .header = "Mean", .print = print_mean, .json = json_mean},
    {.field = "p95", .name = "p95", .header = "p95", .print = print_p95, .json = json_p95},
    {.field = "max", .name = "max", .header = "Max", .print = print_max, .json = json_max},
};
const struct sg_columns sg_slice_columns = {columns, sizeof columns / sizeof *columns};

/* ---- text of slices -------------------------------------------------------------------------- */

static void put_head(const struct sg_report *report, const struct sg_slice_comm *comm, FILE *out)
{
    sg_format_put(report->program != NULL ? report->program : "program not known", out);
    fputs(": slices of ", out);
    sg_format_put(comm->name[0] != '\0' ? comm->name : "a communicator", out);
    fprintf(out, ", %" PRIu32 " ranks\n\n", comm->size);
}

static uint64_t left_out(const struct sg_slice_set *slices)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < slices->sum_count; i++)
        count += slices->sums[i].slices;
    return count;
}

/* Returns SG_ERR_MISSING if no slices were recorded. */
static enum sg_status sg_slices_print_text(const struct sg_report *report,
                                           const struct sg_print_options *options, FILE *out)
{
    const struct sg_slice_set *slices = report->calls != NULL ? &report->calls->slices : NULL;
    struct sg_slices_line *lines = NULL;
    uint32_t count;
    enum sg_status status;

    if (slices == NULL || slices->place_count == 0) {
        sg_log("report: no slices were recorded (STAGGER_EMDS=on, and a rule with bcs)");
        return SG_ERR_MISSING;
    }
    status = sg_slices_lines(slices, &options->slices, &lines, &count);
    for (uint32_t i = 0; status == SG_OK && i < count;) {
        const struct sg_slice_comm *comm = lines[i].comm;
        struct sg_table table = {0};

        put_head(report, comm, out);
        sg_table_show(&table, sg_slice_columns, NULL);
        for (; i < count && lines[i].comm == comm; i++)
            sg_table_row(&table, &lines[i], NULL);
        status = sg_print_finish(&table, out);
    }
    free(lines);
    if (status != SG_OK)
        return status;
    if (left_out(slices) > 0)
        fprintf(out,
                "note: %" PRIu64 " slices are in sums alone, which have no p95 and are in no "
                "window\n",
                left_out(slices));
    return SG_OK;
}
