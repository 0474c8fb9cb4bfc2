/* Prints the report: the list of its sections, the head for people at a terminal (also on its own,
 * in three lines for the end of a run) and notes on the reliability of the figures, JSON, and CSV.
 */
#include "report/report_print.h"

#include "output/format.h"
#include "report/filter.h"
#include "report/profile_calls.h"
#include "report/report_columns.h"
#include "report/wait_print.h"
#include "report/wait_sums.h"

#include <inttypes.h>
#include <stdlib.h>

#define JSON_VERSION 1
#define JSON_DIGITS 9 /* of reals */

/* ---- the sections ---------------------------------------------------------------------------- */

#define ENTRY(name) &sg_##name##_section,
const struct sg_report_section *const sg_report_sections[] = {SG_REPORT_SECTIONS(ENTRY) NULL};

static SG_REPORT_MEMBER(put_run);

/* The sections whose rows are a member, without more. */
static SG_REPORT_MEMBER(put_sections)
{
    for (size_t i = 0; sg_report_sections[i] != NULL; i++) {
        if (sg_report_sections[i]->is_member)
            sg_report_put(sg_report_sections[i], report, options, writer);
    }
}

/* In the order of the JSON document. */
static void (*const members[])(const struct sg_report *report,
                               const struct sg_print_options *options,
                               struct sg_json_writer *writer) = {
    put_run,           sg_trials_put, put_sections,  sg_efficiency_put, sg_calls_put,
    sg_waitstates_put, sg_path_put,   sg_causes_put, sg_before_put,     sg_slices_put,
};

/* ---- the head -------------------------------------------------------------------------------- */

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

static void put_waiting(const struct sg_report *report, FILE *out)
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

static void put_summary(const struct sg_report *report, FILE *out)
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
    for (size_t i = 0; sg_report_sections[i] != NULL; i++)
        sg_report_put_left_out(sg_report_sections[i], report, options, out);
    sg_waitstates_print_notes(report, out);
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
    if (report->unmanaged_full > 0)
        fprintf(out,
                "note: %" PRIu64 " of the collectives passed through have no row: a rank has at"
                " most 32768 rows of call site, communicator and size\n",
                report->unmanaged_full);
    if (report->unmanaged_calls > report->unmanaged_nonblocking)
        fprintf(out, "note: %" PRIu64 " collectives were passed through%s\n",
                report->unmanaged_calls - report->unmanaged_nonblocking,
                report->calls != NULL ? ", and are counted among all calls only" : " unrecorded");
    put_overhead(report, out);
    if (report->has_events)
        put_clocks(report, out);
}

/* ---- text ------------------------------------------------------------------------------------ */

enum sg_status sg_report_print_text(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out)
{
    enum sg_status status = SG_OK;

    if (options->distribution != NULL)
        return sg_calls_print_distribution(report, options, out);
    if (options->has_slices)
        return sg_slices_print_text(report, options, out);
    if (options->primitives)
        return sg_calls_print_primitives(report, options, out);
    put_header(report, out);
    put_waiting(report, out);
    sg_calls_print_share(report, out);
    if (report->site_count == 0 && sg_filter_is_set(report->filter)) {
        fputs("no calls match the filter\n\n", out);
    } else if (report->site_count == 0) {
        fputs("no barrier, reduce, allreduce or bcast is recorded", out);
        if (report->unmanaged_nonblocking > 0)
            fprintf(out, ": %" PRIu64 " nonblocking calls were left to MPICH",
                    report->unmanaged_nonblocking);
        fputs("\n\n", out);
    } else {
        put_summary(report, out);
    }
    for (size_t i = 0; sg_report_sections[i] != NULL && status == SG_OK; i++) {
        const struct sg_report_section *section = sg_report_sections[i];

        if (!section->is_apart)
            status = section->print != NULL ? section->print(report, options, out)
                                            : sg_report_print_table(section, report, options, out);
    }
    put_notes(report, options, out);
    return status;
}

/* ---- JSON (docs/report-json.md) and CSV ------------------------------------------------------ */

static json_t *clock_of(const struct sg_report *report)
{
    bool known = report->has_events;

    return json_pack(
        "{s:o, s:o, s:o, s:o}", "violations", sg_json_count(known, report->clock_violations),
        "largest_violation_ns", sg_json_count(known, report->largest_violation_ns),
        "offset_error_ns", sg_json_count(report->has_offset_error, report->offset_error_ns),
        "locations_without_offset", sg_json_count(known, report->locations_without_offset));
}

static json_t *overhead_of(const struct sg_report *report)
{
    if (report->overhead_calls == 0)
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:o}", "timed_calls", (json_int_t)report->overhead_calls,
                     "timed_ns", (json_int_t)report->overhead_ns, "long_calls",
                     (json_int_t)report->overhead_long_calls, "run_share",
                     sg_json_share(sg_report_overhead_ns(report), report->ranks_run_ns));
}

static json_t *waiting_of(const struct sg_report *report)
{
    const struct sg_run_waiting *waiting = &report->waiting;
    json_t *machine;

    if (waiting->told == 0)
        return json_null();
    machine = json_pack("{s:o, s:I, s:I, s:o}", "host", sg_json_text(waiting->host), "ranks",
                        (json_int_t)waiting->ranks, "processors", (json_int_t)waiting->processors,
                        "quota", sg_json_count(waiting->quota > 0, waiting->quota));
    return json_pack("{s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:o}", "mode",
                     sg_wait_mode_names[waiting->mode], "hook",
                     waiting->hook[0] != '\0' ? sg_json_text(waiting->hook) : json_null(),
                     "machine", machine, "oversubscribed_ranks", (json_int_t)waiting->short_ranks,
                     "apart_ranks", (json_int_t)waiting->apart_ranks, "ranks",
                     (json_int_t)waiting->told, "yields", (json_int_t)waiting->yields, "yield_ns",
                     (json_int_t)waiting->yield_ns, "yield_share",
                     sg_json_share(waiting->yield_ns, report->ranks_run_ns), "sleeps",
                     (json_int_t)waiting->sleeps, "sleep_ns", (json_int_t)waiting->sleep_ns,
                     "sleep_share", sg_json_share(waiting->sleep_ns, report->ranks_run_ns));
}

static json_t *filter_of(const struct sg_filter *filter)
{
    json_t *time = json_null();

    if (!sg_filter_is_set(filter))
        return time;
    if (filter->time != NULL)
        time = json_pack("[o, o]",
                         filter->from_ns == INT64_MIN ? json_null() : json_integer(filter->from_ns),
                         filter->to_ns == INT64_MAX ? json_null() : json_integer(filter->to_ns));
    return json_pack("{s:o, s:o, s:o, s:o}", "site", sg_json_text(filter->site), "comm",
                     sg_json_text(filter->comm), "ranks", sg_json_text(filter->ranks), "time_ns",
                     time);
}

static const char *source_name(const struct sg_report *report)
{
    if (report->has_events)
        return report->has_statistics ? "archive+statistics" : "archive";
    return "statistics";
}

/* The run as a whole, and its rows. Later versions add members but never change one. */
static SG_REPORT_MEMBER(put_run)
{
    sg_json_put_members(writer,
                        json_pack("{s:i, s:I, s:b}", "version", JSON_VERSION, "ranks",
                                  (json_int_t)report->rank_count, "partial", report->partial));
    sg_rows_put(report, options, writer);
    sg_json_put_members(
        writer, json_pack("{s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}",
                          "source", source_name(report), "program", sg_json_text(report->program),
                          "path", sg_json_text(report->path), "run_ns", (json_int_t)report->run_ns,
                          "site_count", (json_int_t)report->site_count, "dropped_calls",
                          (json_int_t)report->dropped_calls, "unseen_calls",
                          (json_int_t)(report->has_events ? sg_report_unseen_calls(report) : 0),
                          "unmanaged_calls", (json_int_t)report->unmanaged_calls, "unmanaged_posts",
                          (json_int_t)report->unmanaged_nonblocking, "unmanaged_full",
                          (json_int_t)report->unmanaged_full, "clock", clock_of(report), "overhead",
                          overhead_of(report), "waiting", waiting_of(report), "filter",
                          filter_of(report->filter)));
}

enum sg_status sg_report_print_json(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out)
{
    struct sg_json_writer writer = {.out = out, .digits = JSON_DIGITS};

    sg_json_begin(&writer, NULL, '{');
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        members[i](report, options, &writer);
    sg_json_end(&writer, '}');
    return sg_json_finish(&writer, "report");
}

enum sg_status sg_report_print_csv(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out)
{
    return sg_report_section_csv(options->table != NULL ? options->table : &sg_rows_section, report,
                                 options, out);
}
