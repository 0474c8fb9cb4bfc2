/* Prints the report for programs: JSON (docs/report-json.md, version 1), and its rows as CSV. Later
 * versions add fields but never change one. */
#include "output/column.h"
#include "output/json_output.h"
#include "report/between_calls.h"
#include "report/cause_print.h"
#include "report/critical_path.h"
#include "report/filter.h"
#include "report/learned_print.h"
#include "report/profile_tables.h"
#include "report/report_columns.h"
#include "report/report_text.h"
#include "report/text_tables.h"
#include "report/trial_verdicts.h"
#include "report/wait_print.h"

#include <jansson.h>
#include <string.h>

#define JSON_VERSION 1
#define DIGITS 9 /* of reals */

/* comms: the row is a sum over communicators. */
static json_t *site_of(const struct sg_report *report, const struct sg_report_site *site,
                       bool comms)
{
    json_t *value = json_object();

    sg_columns_set(&value, sg_site_place_columns, site, report);
    sg_columns_set(&value, sg_site_row_columns, site, report);
    if (comms)
        sg_json_set(&value, "comms", json_integer(site->comms));
    sg_columns_set(&value, sg_site_count_columns, site, report);
    return value;
}

static json_t *sites_of(const struct sg_report *report, const struct sg_report_site *of,
                        uint32_t count, bool comms)
{
    json_t *sites = json_array();

    for (uint32_t i = 0; i < count && sites != NULL; i++)
        sg_json_append(&sites, site_of(report, &of[i], comms));
    return sites;
}

static json_t *ranks_of(const struct sg_report *report)
{
    json_t *ranks = json_array();

    for (uint32_t i = 0; i < report->rank_count; i++) {
        const struct sg_ranked ranked = sg_ranked_of(report, i);
        json_t *value = json_object();

        if (!sg_filter_takes_rank(report->filter, i))
            continue;
        sg_columns_set(&value, sg_rank_columns, &ranked, NULL);
        sg_json_append(&ranks, value);
    }
    return ranks;
}

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

/* Prints member by member: messages may be a million pairs of ranks, which are printed one by one.
 */
static enum sg_status print(json_t *root, const struct sg_report *report,
                            const struct sg_print_options *options, FILE *out)
{
    struct sg_json_writer writer = {.out = out, .digits = DIGITS};
    const char *name;
    json_t *value;

    if (root == NULL)
        return sg_json_print(root, DIGITS, "report", out);
    sg_json_begin(&writer, NULL, '{');
    json_object_foreach(root, name, value)
    {
        if (!sg_calls_put_pairs(&writer, name, report, options))
            sg_json_put(&writer, name, json_incref(value));
    }
    sg_json_end(&writer, '}');
    fputc('\n', out);
    json_decref(root);
    return SG_OK;
}

enum sg_status sg_report_print_json(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out)
{
    uint32_t row_count = sg_print_count(options, report->site_count);
    uint32_t sum_count = sg_print_count(options, report->sum_count);
    json_t *root = json_pack(
        "{s:i, s:I, s:b, s:o, s:o, s:I, s:o, s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:o, "
        "s:o}",
        "version", JSON_VERSION, "ranks", (json_int_t)report->rank_count, "partial",
        report->partial, "sites", sites_of(report, report->sites, row_count, false), "by_site",
        sites_of(report, report->sums, sum_count, true), "by_site_count",
        (json_int_t)report->sum_count, "per_rank", ranks_of(report), "source", source_name(report),
        "program", sg_json_text(report->program), "path", sg_json_text(report->path), "run_ns",
        (json_int_t)report->run_ns, "site_count", (json_int_t)report->site_count, "dropped_calls",
        (json_int_t)report->dropped_calls, "unseen_calls",
        (json_int_t)(report->has_events ? sg_report_unseen_calls(report) : 0), "unmanaged_calls",
        (json_int_t)report->unmanaged_calls, "unmanaged_posts",
        (json_int_t)report->unmanaged_nonblocking, "clock", clock_of(report), "overhead",
        overhead_of(report));

    sg_json_set(&root, "waiting", waiting_of(report));
    sg_json_set(&root, "filter", filter_of(report->filter));
    sg_json_set(&root, "trials", sg_report_trials_json(report));
    sg_json_set(&root, "learned", sg_learned_json(report));
    sg_calls_json(&root, report, options);
    sg_waitstates_json(&root, report, options);
    sg_path_json(&root, report, options);
    sg_causes_json(&root, report, options);
    sg_before_json(&root, report, options);
    sg_json_set(&root, "slices", sg_slices_json(report, options));
    return print(root, report, options, out);
}

enum sg_status sg_report_print_csv(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out)
{
    static const struct sg_csv csv = {
        "\r\n", 6,
        "id op function file line module offset comm comm_size algorithm calls bytes "
        "skew_p50_ns=skew_ns.p50 skew_p95_ns=skew_ns.p95 skew_max_ns=skew_ns.max wait_ns "
        "blocked_ns "
        "last_rank last_rank_share early late signals event_calls instances wait_avoided_ns "
        "completion_ns run_share worst.seq worst.time_ns signals_ignored stalls token_moves "
        "releases_repeated outstanding_max handler_ns exposed_ns hidden_ns "
        "skew_mean_ns=skew_ns.mean comm_parent ran_ahead late_by_signal"};
    json_t *rows;

    if (options->table == SG_PRINT_SLICES)
        return sg_slices_print_csv(report, options, out);
    if (options->table == SG_PRINT_INTERVALS)
        return sg_before_print_csv(report, options, out);
    if (options->table == SG_PRINT_CAUSES)
        return sg_causes_print_csv(report, options, out);
    if (options->table == SG_PRINT_PATH)
        return sg_path_print_csv(report, options, out);
    if (options->table >= SG_PRINT_WAITS)
        return sg_waitstates_print_csv(report, options, out);
    if (options->table != SG_PRINT_SITES)
        return sg_calls_print_csv(report, options->table, options, out);
    rows = sites_of(report, report->sites, sg_print_count(options, report->site_count), false);
    return sg_csv_print(&csv, rows, "report", out);
}
