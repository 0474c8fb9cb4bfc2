/* The comparison for programs: docs/compare-json.md, version 1. Fields are added, never changed. */
#include "compare/compare.h"
#include "report/json_values.h"

#include <jansson.h>
#include <math.h>

#define JSON_VERSION 1

/* As the report's, and "" becomes null, too. */
static json_t *text_of(const char *text)
{
    return sg_json_text(text != NULL && text[0] != '\0' ? text : NULL);
}

static json_t *real_of(bool known, double value)
{
    return known ? json_real(value) : json_null();
}

static json_t *run_of(const struct sg_report *run)
{
    return json_pack("{s:o, s:o, s:I, s:b, s:b, s:I, s:I, s:I, s:o}", "path", text_of(run->path),
                     "program", text_of(run->program), "ranks", (json_int_t)run->rank_count,
                     "partial", run->partial, "events", run->has_events, "run_ns",
                     (json_int_t)run->run_ns, "ranks_run_ns", (json_int_t)run->ranks_run_ns,
                     "blocked_ns", (json_int_t)sg_report_blocked_ns(run), "wait_ns",
                     sg_json_count(run->has_events, sg_report_wait_ns(run)));
}

static json_t *side_of(const struct sg_side *side)
{
    if (!side->present)
        return json_null();
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:o, s:I, s:o}", "calls", (json_int_t)side->calls, "event_calls",
        (json_int_t)side->event_calls, "instances", (json_int_t)side->instances, "blocked_ns",
        (json_int_t)side->ns[SG_MEASURED_BLOCKED], "wait_ns",
        sg_json_count(sg_side_knows(side, SG_MEASURED_WAIT), side->ns[SG_MEASURED_WAIT]),
        "processor_ns", (json_int_t)side->ns[SG_MEASURED_PROCESSOR], "algorithm",
        text_of(side->algorithm));
}

static json_t *difference_of(const struct sg_compared *row, enum sg_measured measured)
{
    const struct sg_difference *difference = &row->difference[measured];
    bool a_known = sg_side_knows(&row->side[0], measured);
    bool b_known = sg_side_knows(&row->side[1], measured);
    bool interval = difference->verdict >= SG_VERDICT_NOISE;
    double a_ns = row->side[0].mean_ns[measured], b_ns = row->side[1].mean_ns[measured];

    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "a_ns", real_of(a_known, a_ns), "b_ns",
        real_of(b_known, b_ns), "difference_ns", real_of(a_known && b_known, b_ns - a_ns), "low_ns",
        real_of(interval, difference->low), "high_ns", real_of(interval, difference->high),
        "change", real_of(a_known && b_known && a_ns > 0, (b_ns - a_ns) / a_ns), "verdict",
        sg_verdict_names[difference->verdict]);
}

static json_t *per_call_of(const struct sg_compared *row)
{
    json_t *value = json_object();

    for (int measured = 0; measured < SG_MEASURED_COUNT && value != NULL; measured++) {
        if (json_object_set_new(value, sg_measured_names[measured],
                                difference_of(row, (enum sg_measured)measured)) != 0) {
            json_decref(value);
            return NULL;
        }
    }
    return value;
}

static json_t *row_of(const struct sg_compared *row)
{
    const struct sg_report_site *site = row->site;
    bool both = row->side[0].present && row->side[1].present;

    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id",
                     site->has_id ? json_sprintf("%08x", site->id) : json_null(), "op",
                     sg_site_operation(site), "function", text_of(site->function), "file",
                     text_of(site->file), "line", sg_json_count(site->line > 0, site->line),
                     "module", text_of(site->module), "offset",
                     sg_json_count(site->module != NULL, site->offset), "matched_by",
                     both ? json_string(row->by_place ? "place" : "id") : json_null(), "a",
                     side_of(&row->side[0]), "b", side_of(&row->side[1]), "per_call",
                     both ? per_call_of(row) : json_null());
}

static json_t *rows_of(const struct sg_comparison *comparison)
{
    json_t *rows = json_array();

    for (uint32_t i = 0; i < comparison->row_count && rows != NULL; i++) {
        if (json_array_append_new(rows, row_of(&comparison->rows[i])) != 0) {
            json_decref(rows);
            return NULL;
        }
    }
    return rows;
}

enum sg_status sg_comparison_print_json(const struct sg_comparison *comparison, FILE *out)
{
    json_t *root = json_pack("{s:i, s:o, s:o, s:I, s:I, s:I, s:o}", "version", JSON_VERSION, "a",
                             run_of(&comparison->run[0]), "b", run_of(&comparison->run[1]),
                             "both_count", (json_int_t)comparison->both_count, "only_a_count",
                             (json_int_t)comparison->only_count[0], "only_b_count",
                             (json_int_t)comparison->only_count[1], "sites", rows_of(comparison));

    if (root == NULL) {
        sg_log("compare: out of memory");
        return SG_ERR_MEMORY;
    }
    /* A stream that does not take it is the caller's to notice. */
    if (json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) == 0)
        fputc('\n', out);
    json_decref(root);
    return SG_OK;
}
