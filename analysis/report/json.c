/* The report for programs: docs/report-json.md, version 1, and its rows as CSV. Fields are added,
 * never changed. */
#include "output/json.h"
#include "output/csv.h"
#include "report/filter.h"
#include "report/print.h"
#include "report/trials_json.h"

#include <jansson.h>

#define JSON_VERSION 1

static json_t *skew_of(const struct sg_report_site *site)
{
    bool known = sg_site_has_skew(site);

    return json_pack("{s:o, s:o, s:o}", "p50", sg_json_count(known, site->skew_p50_ns), "p95",
                     sg_json_count(known, site->skew_p95_ns), "max",
                     sg_json_count(known, site->skew_max_ns));
}

static json_t *worst_of(const struct sg_report_site *site)
{
    if (!sg_site_has_skew(site))
        return json_null();
    return json_pack("{s:I, s:I, s:I}", "seq", (json_int_t)site->worst_seq, "time_ns",
                     (json_int_t)site->worst_time_ns, "skew_ns", (json_int_t)site->skew_max_ns);
}

static json_t *share_of(bool known, uint64_t part, uint64_t whole)
{
    return sg_json_real(known && whole > 0, (double)part / (double)whole);
}

/* A row, or with comms a sum. */
static json_t *site_of(const struct sg_report *report, const struct sg_report_site *site,
                       bool comms)
{
    bool waits = sg_site_has_wait(site);
    bool last = site->last_rank >= 0;

    json_t *value = json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:I,"
        " s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:I, s:o, s:o}",
        "id", sg_json_id(site->has_id, site->id), "op", sg_site_operation(site), "function",
        sg_json_text(site->function), "file", sg_json_text(site->file), "line",
        sg_json_count(site->line > 0, site->line), "module", sg_json_text(site->module), "offset",
        sg_json_count(site->module != NULL, site->offset), "comm", sg_json_text(site->comm),
        "comm_size", sg_json_count(site->comm_size > 0, site->comm_size), "algorithm",
        sg_json_text(site->algorithm[0] != '\0' ? site->algorithm : NULL), "calls",
        (json_int_t)site->calls, "bytes", (json_int_t)site->bytes, "skew_ns", skew_of(site),
        "wait_ns", sg_json_count(waits, site->wait_ns), "blocked_ns", (json_int_t)site->blocked_ns,
        "last_rank", sg_json_count(last, (uint64_t)site->last_rank), "last_rank_share",
        share_of(last, site->last_count, site->instances), "event_calls",
        (json_int_t)site->event_calls, "instances", (json_int_t)site->instances, "wait_avoided_ns",
        sg_json_count(waits, site->wait_avoided_ns), "completion_ns",
        sg_json_count(waits, site->completion_ns), "run_share",
        share_of(true, site->blocked_ns, report->ranks_run_ns), "worst", worst_of(site),
        "handler_ns", (json_int_t)site->handler_ns, "exposed_ns",
        sg_json_count(sg_site_has_exposed(site), site->exposed_ns), "hidden_ns",
        sg_json_count(site->nonblocking, site->hidden_ns));

    if (comms)
        sg_json_set(&value, "comms", json_integer(site->comms));
    for (int count = 0; count < SG_COUNT_COUNT; count++)
        sg_json_set(&value, sg_count_names[count].field,
                    json_integer((json_int_t)site->counts.of[count]));
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

    for (uint32_t i = 0; i < report->rank_count && ranks != NULL; i++) {
        const struct sg_report_rank *rank = &report->ranks[i];
        json_int_t elsewhere_ns = (json_int_t)sg_rank_elsewhere_ns(rank);
        json_t *value = json_pack(
            "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "rank", (json_int_t)i, "run_ns",
            (json_int_t)rank->run_ns, "blocked_ns", (json_int_t)rank->blocked_ns, "elsewhere_ns",
            elsewhere_ns, "compute_ns", elsewhere_ns, "threads", (json_int_t)rank->threads, "calls",
            (json_int_t)rank->calls, "wait_ns", sg_json_count(report->has_events, rank->wait_ns),
            "last_count", sg_json_count(report->has_events, rank->last_count));

        if (sg_filter_takes_rank(report->filter, i))
            sg_json_append(&ranks, value);
        else
            json_decref(value);
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
                     share_of(true, sg_report_overhead_ns(report), report->ranks_run_ns));
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
        (json_int_t)report->unmanaged_calls, "unmanaged_posts", (json_int_t)report->unmanaged_posts,
        "clock", clock_of(report), "overhead", overhead_of(report));

    sg_json_set(&root, "filter", filter_of(report->filter));
    sg_json_set(&root, "trials", sg_report_trials_json(report));
    return sg_json_print(root, 9, "report", out);
}

/* The fields of the JSON's sites: docs/report-json.md. */
static const struct sg_csv_column csv_columns[] = {
    {.path = "id"},
    {.path = "op"},
    {.path = "function"},
    {.path = "file"},
    {.path = "line"},
    {.path = "module"},
    {.path = "offset"},
    {.path = "comm"},
    {"comm_size", .unknown = "0"},
    {.path = "algorithm"},
    {.path = "calls"},
    {.path = "bytes"},
    {"skew_ns.p50", .name = "skew_p50_ns"},
    {"skew_ns.p95", .name = "skew_p95_ns"},
    {"skew_ns.max", .name = "skew_max_ns"},
    {.path = "wait_ns"},
    {.path = "blocked_ns"},
    {.path = "last_rank"},
    {.path = "last_rank_share"},
    {.path = "early"},
    {.path = "late"},
    {.path = "signals"},
    {.path = "event_calls"},
    {.path = "instances"},
    {.path = "wait_avoided_ns"},
    {.path = "completion_ns"},
    {.path = "run_share"},
    {.path = "worst.seq"},
    {.path = "worst.time_ns"},
    {.path = "signals_ignored"},
    {.path = "stalls"},
    {.path = "token_moves"},
    {.path = "releases_repeated"},
    {.path = "outstanding_max"},
    {.path = "handler_ns"},
    {.path = "exposed_ns"},
    {.path = "hidden_ns"},
};

enum sg_status sg_report_print_csv(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out)
{
    static const struct sg_csv csv = {"\r\n", 6, csv_columns,
                                      sizeof csv_columns / sizeof csv_columns[0]};
    json_t *rows =
        sites_of(report, report->sites, sg_print_count(options, report->site_count), false);

    if (rows == NULL) {
        sg_log("report: out of memory");
        return SG_ERR_MEMORY;
    }
    sg_csv_print(&csv, rows, out);
    json_decref(rows);
    return SG_OK;
}
