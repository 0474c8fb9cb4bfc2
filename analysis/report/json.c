/* The report for programs: docs/report-json.md, version 1. Fields are added, never changed. */
#include "report/json_values.h"
#include "report/print.h"

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

static json_t *id_of(const struct sg_report_site *site)
{
    return site->has_id ? json_sprintf("%08x", site->id) : json_null();
}

static json_t *share_of(bool known, uint64_t part, uint64_t whole)
{
    return known && whole > 0 ? json_real((double)part / (double)whole) : json_null();
}

static json_t *site_of(const struct sg_report *report, const struct sg_report_site *site)
{
    bool waits = sg_site_has_wait(site);
    bool last = site->last_rank >= 0;

    json_t *value = json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:I, s:I, s:o, s:o, s:I,"
        " s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:I, s:o, s:o}",
        "id", id_of(site), "op", sg_site_operation(site), "function", sg_json_text(site->function),
        "file", sg_json_text(site->file), "line", sg_json_count(site->line > 0, site->line),
        "module", sg_json_text(site->module), "offset",
        sg_json_count(site->module != NULL, site->offset), "comm", sg_json_text(site->comm),
        "comm_size", (json_int_t)site->comm_size, "algorithm",
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

    for (int count = 0; count < SG_COUNT_COUNT; count++) {
        if (json_object_set_new(value, sg_count_names[count].field,
                                sg_json_count(true, site->counts.of[count])) != 0) {
            json_decref(value);
            return NULL;
        }
    }
    return value;
}

static json_t *sites_of(const struct sg_report *report, uint32_t count)
{
    json_t *sites = json_array();

    for (uint32_t i = 0; i < count && sites != NULL; i++) {
        /* Takes a NULL from an element as a failure of its own. */
        if (json_array_append_new(sites, site_of(report, &report->sites[i])) != 0) {
            json_decref(sites);
            return NULL;
        }
    }
    return sites;
}

static json_t *ranks_of(const struct sg_report *report)
{
    json_t *ranks = json_array();

    for (uint32_t i = 0; i < report->rank_count && ranks != NULL; i++) {
        const struct sg_report_rank *rank = &report->ranks[i];
        uint64_t compute_ns = rank->run_ns > rank->blocked_ns ? rank->run_ns - rank->blocked_ns : 0;
        json_t *value = json_pack(
            "{s:I, s:I, s:I, s:I}", "rank", (json_int_t)i, "run_ns", (json_int_t)rank->run_ns,
            "blocked_ns", (json_int_t)rank->blocked_ns, "compute_ns", (json_int_t)compute_ns);

        if (json_array_append_new(ranks, value) != 0) {
            json_decref(ranks);
            return NULL;
        }
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

static const char *source_name(const struct sg_report *report)
{
    if (report->has_events)
        return report->has_statistics ? "archive+statistics" : "archive";
    return "statistics";
}

enum sg_status sg_report_print_json(const struct sg_report *report, uint32_t site_count, FILE *out)
{
    json_t *root = json_pack(
        "{s:i, s:I, s:b, s:o, s:o, s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "version",
        JSON_VERSION, "ranks", (json_int_t)report->rank_count, "partial", report->partial, "sites",
        sites_of(report, site_count), "per_rank", ranks_of(report), "source", source_name(report),
        "program", sg_json_text(report->program), "path", sg_json_text(report->path), "run_ns",
        (json_int_t)report->run_ns, "site_count", (json_int_t)report->site_count, "dropped_calls",
        (json_int_t)report->dropped_calls, "unseen_calls",
        (json_int_t)(report->has_events ? sg_report_unseen_calls(report) : 0), "unmanaged_calls",
        (json_int_t)report->unmanaged_calls, "clock", clock_of(report), "overhead",
        overhead_of(report));
    int failed =
        root == NULL || json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) != 0;

    /* A stream that does not take it is the caller's to notice. */
    if (root == NULL)
        sg_log("report: out of memory");
    else
        fputc('\n', out);
    json_decref(root);
    return root == NULL && failed ? SG_ERR_MEMORY : SG_OK;
}
