/* Prints the report: the list of its sections, the first screen or the parts that options select
 * with notes on the reliability of the figures, JSON, and CSV.
 */
#include "report/report_print.h"

#include "output/format.h"
#include "report/aggregate.h"
#include "report/filter.h"
#include "report/open_calls.h"
#include "report/profile_calls.h"
#include "report/report_columns.h"
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
    put_run,           sg_summary_put, sg_trials_put,     put_sections,
    sg_efficiency_put, sg_calls_put,   sg_waitstates_put, sg_path_put,
    sg_causes_put,     sg_before_put,  sg_slices_put,
};

/* ---- notes ----------------------------------------------------------------------------------- */

/* The time that stagger itself adds, from the calls that were timed. */
static void put_overhead(const struct sg_report *report, FILE *out)
{
    if (report->overhead_calls > 0)
        fprintf(
            out,
            "stagger itself: %s a call, %s of rank time, by %" PRIu64 " calls that were timed\n",
            SG_NS(report->overhead_ns / report->overhead_calls),
            SG_SHARE(sg_report_overhead_ns(report), report->ranks_run_ns), report->overhead_calls);
}

static void put_clocks(const struct sg_report *report, FILE *out)
{
    const char *known = sg_report_has_one_clock(report) ? "one clock"
                        : report->has_offset_error      ? "offsets known within "
                                                        : "no offsets recorded";
    bool within = report->has_offset_error && !sg_report_has_one_clock(report);

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
    for (size_t i = 0; sg_report_sections[i] != NULL; i++) {
        if ((sg_report_sections[i]->part & options->parts) != 0)
            sg_report_put_left_out(sg_report_sections[i], report, options, out);
    }
    sg_waitstates_print_notes(report, out);
    sg_before_print_missing(report, out);
    sg_report_put_notes(report, true, out);
    put_overhead(report, out);
    if (report->has_events)
        put_clocks(report, out);
}

/* ---- text ------------------------------------------------------------------------------------ */

static enum sg_status print_sections(const struct sg_report *report,
                                     const struct sg_print_options *options, FILE *out)
{
    enum sg_status status = SG_OK;

    for (size_t i = 0; sg_report_sections[i] != NULL && status == SG_OK; i++) {
        const struct sg_report_section *section = sg_report_sections[i];

        if ((section->part & options->parts) != 0)
            status = section->print != NULL ? section->print(report, options, out)
                                            : sg_report_print_table(section, report, options, out);
    }
    return status;
}

/* The options that print a section, as far as the report has rows for it. */
static void put_more(const struct sg_report *report, FILE *out)
{
    bool has_events = report->waitstates != NULL, has_calls = report->calls != NULL;
    const struct {
        bool has;
        const char *option;
    } options[] = {{has_calls, " --calls"},
                   {report->site_count > 0, " --collectives"},
                   {has_events, " --waits"},
                   {has_calls && report->calls->pair_count > 0, " --messages"},
                   {has_calls && report->calls->one_sided.count > 0, " --rma"},
                   {true, " --ranks"},
                   {has_events || has_calls, " --why"},
                   {report->critical_path != NULL, " --path"},
                   {report->trial_count > 0 || report->learned.count > 0, " --trials"}};

    fputs("more:", out);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        fputs(options[i].has ? options[i].option : "", out);
    fputs(" --all; --html page.html\n", out);
}

enum sg_status sg_report_print_text(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out)
{
    struct sg_print_options all = *options;
    enum sg_status status;

    if (options->distribution != NULL)
        return sg_calls_print_distribution(report, options, out);
    if (options->has_slices)
        return sg_slices_print_text(report, options, out);
    if (options->parts == 0 || options->all)
        sg_report_print_screen(report, options, out);
    if (options->parts == 0 && !options->all) {
        put_more(report, out);
        return SG_OK;
    }
    if (options->all) {
        all.parts = ~(unsigned)SG_PART_PRIMITIVES;
    } else {
        sg_report_put_heading(report, out);
        fputc('\n', out);
    }
    status = print_sections(report, &all, out);
    put_notes(report, &all, out);
    return status;
}

/* ---- a selection that matches nothing ------------------------------------------------------- */

#define NAMED 8 /* call sites or communicators, each once */

/* Names one of the run's call sites or communicators; NULL: it has no name, or out of memory. */
typedef char *naming(const struct sg_aggregate *aggregate, uint32_t index,
                     struct sg_report_site *row);

static char *name_site(const struct sg_aggregate *aggregate, uint32_t site,
                       struct sg_report_site *row)
{
    sg_aggregate_name_site(aggregate, site, row);
    return row->function != NULL || row->file != NULL || row->module != NULL
               ? sg_site_text("site", NULL, row)
               : NULL;
}

static char *name_comm(const struct sg_aggregate *aggregate, uint32_t comm,
                       struct sg_report_site *row)
{
    sg_aggregate_name_comm(aggregate, comm, row);
    return sg_site_text("comm", NULL, row);
}

/* Logs a line if none of the run's call sites or communicators matches the filter. */
static enum sg_status check_names(const struct sg_aggregate *aggregate,
                                  const struct sg_filter *filter, const char *kind,
                                  const char *wanted, uint32_t count, naming *name_of)
{
    struct sg_names names = {0};
    char *list = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&list, &bytes);
    bool has = false;

    for (uint32_t i = 0; i < count && !has; i++) {
        struct sg_report_site row = {0};
        char *text = name_of(aggregate, i, &row);
        uint32_t number, before = names.count;

        has = sg_filter_takes_row(filter, &row);
        if (out != NULL && text != NULL && before <= NAMED &&
            sg_names_number(&names, text, &number) == SG_OK && names.count > before)
            fprintf(out, "%s%s", before > 0 ? ", " : "", before < NAMED ? text : "...");
        free(text);
    }
    if (out != NULL && fclose(out) == 0 && !has)
        sg_log("report: no %s matches '%s'; this run has: %s", kind, wanted,
               names.count > 0 ? list : "none that is known");
    free(list);
    sg_names_clear(&names);
    return has ? SG_OK : SG_ERR_MISSING;
}

/* Parsed alone, a place matches whatever the other is. */
static enum sg_status check_place(const struct sg_report *report, const char *site,
                                  const char *comm)
{
    const struct sg_aggregate *aggregate = report->strings;
    struct sg_filter filter = {.site = site, .comm = comm};
    char message[500];
    enum sg_status status = SG_OK;

    if ((site == NULL && comm == NULL) || !sg_filter_parse(&filter, message, sizeof message))
        return SG_OK;
    if (site != NULL)
        status =
            check_names(aggregate, &filter, "call site", site, aggregate->site_count, name_site);
    else
        status =
            check_names(aggregate, &filter, "communicator", comm, aggregate->comm_count, name_comm);
    sg_filter_clear(&filter);
    return status;
}

static enum sg_status check_ranks(const struct sg_report *report, const struct sg_filter *filter)
{
    if (filter->ranks == NULL)
        return SG_OK;
    for (uint32_t rank = 0; rank < report->rank_count; rank++) {
        if (sg_filter_takes_rank(filter, rank))
            return SG_OK;
    }
    sg_log("report: no rank matches '%s'; this run has: 0 to %" PRIu32, filter->ranks,
           report->rank_count - 1);
    return SG_ERR_MISSING;
}

enum sg_status sg_report_check_filter(const struct sg_report *report,
                                      const struct sg_filter *filter)
{
    enum sg_status status = check_place(report, filter->site, NULL);

    if (status == SG_OK)
        status = check_place(report, NULL, filter->comm);
    return status == SG_OK ? check_ranks(report, filter) : status;
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
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:o}", "mode",
        sg_wait_mode_names[waiting->mode], "hook",
        waiting->hook[0] != '\0' ? sg_json_text(waiting->hook) : json_null(), "machine", machine,
        "spinning_threads", sg_json_count(waiting->spinning_threads > 0, waiting->spinning_threads),
        "oversubscribed_ranks", (json_int_t)waiting->short_ranks, "apart_ranks",
        (json_int_t)waiting->apart_ranks, "ranks", (json_int_t)waiting->told, "yields",
        (json_int_t)waiting->yields, "yield_ns", (json_int_t)waiting->yield_ns, "yield_share",
        sg_json_share(waiting->yield_ns, report->ranks_run_ns), "sleeps",
        (json_int_t)waiting->sleeps, "sleep_ns", (json_int_t)waiting->sleep_ns, "sleep_share",
        sg_json_share(waiting->sleep_ns, report->ranks_run_ns));
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
    sg_json_put_members(writer,
                        json_pack("{s:o, s:o}", "recorded_ns",
                                  sg_json_count(report->recorded_ns > 0, report->recorded_ns),
                                  "wanted_trace_bytes",
                                  sg_json_count(report->wanted_bytes > 0, report->wanted_bytes)));
    sg_json_put(writer, "off_ns", json_integer((json_int_t)report->off_ns));
    sg_rows_put(report, options, writer);
    sg_json_put_members(
        writer,
        json_pack("{s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}",
                  "source", source_name(report), "program", sg_json_text(report->program), "path",
                  sg_json_text(report->path), "run_ns", (json_int_t)report->run_ns, "site_count",
                  (json_int_t)report->site_count, "dropped_calls",
                  (json_int_t)report->dropped_calls, "unseen_calls",
                  (json_int_t)(report->has_events ? sg_report_unseen_calls(report) : 0),
                  "unmanaged_calls", (json_int_t)report->unmanaged_calls, "unmanaged_posts",
                  (json_int_t)report->unmanaged_nonblocking, "unmanaged_full",
                  (json_int_t)report->unmanaged_full, "clock", clock_of(report), "overhead",
                  overhead_of(report), "waiting", waiting_of(report), "filter",
                  filter_of(report->filter), "open_calls", sg_open_calls_json(report->open_calls)));
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
