/* The comparison for programs: docs/compare-json.md, version 1, and its rows as CSV. Fields are
 * added, never changed. */
#include "output/json.h"
#include "compare/compare.h"
#include "output/csv.h"

#include <jansson.h>

#define JSON_VERSION 1
#define DIGITS 12

/* As the report's, and "" becomes null, too. */
static json_t *text_of(const char *text)
{
    return sg_json_text(text != NULL && text[0] != '\0' ? text : NULL);
}

static json_t *paths_of(const struct sg_comparison *comparison, int side)
{
    json_t *paths = json_array();

    for (uint32_t run = 0; run < comparison->run_count[side] && paths != NULL; run++)
        sg_json_append(&paths, text_of(comparison->runs[side][run].path));
    return paths;
}

static json_t *runs_of(const struct sg_comparison *comparison, int side)
{
    const struct sg_report *first = &comparison->runs[side][0];
    struct sg_run_figures figures = sg_comparison_figures(comparison, side);

    return json_pack("{s:o, s:o, s:o, s:I, s:b, s:b, s:I, s:I, s:I, s:o}", "path",
                     text_of(first->path), "paths", paths_of(comparison, side), "program",
                     text_of(first->program), "ranks", (json_int_t)first->rank_count, "partial",
                     figures.partial, "events", figures.has_events, "run_ns",
                     (json_int_t)figures.run_ns, "ranks_run_ns", (json_int_t)figures.ranks_run_ns,
                     "blocked_ns", (json_int_t)figures.blocked_ns, "wait_ns",
                     sg_json_count(figures.has_events, figures.wait_ns));
}

static json_t *side_of(const struct sg_side *side)
{
    if (!side->present)
        return json_null();
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:o}", "runs", (json_int_t)side->run_count,
        "calls", (json_int_t)side->calls, "bytes", (json_int_t)side->bytes, "event_calls",
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

    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "a_ns", sg_json_real(a_known, a_ns),
                     "b_ns", sg_json_real(b_known, b_ns), "difference_ns",
                     sg_json_real(a_known && b_known, b_ns - a_ns), "low_ns",
                     sg_json_real(interval, difference->low), "high_ns",
                     sg_json_real(interval, difference->high), "change",
                     sg_json_real(a_known && b_known && a_ns > 0, (b_ns - a_ns) / a_ns), "verdict",
                     sg_verdict_names[difference->verdict]);
}

static json_t *per_call_of(const struct sg_compared *row)
{
    json_t *value = json_object();

    for (int measured = 0; measured < SG_MEASURED_COUNT; measured++)
        sg_json_set(&value, sg_measured_names[measured],
                    difference_of(row, (enum sg_measured)measured));
    return value;
}

static json_t *row_of(const struct sg_compared *row)
{
    const struct sg_report_site *site = row->site;
    bool both = row->side[0].present && row->side[1].present;

    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id",
                     sg_json_id(site->has_id, site->id), "op", sg_site_operation(site), "function",
                     text_of(site->function), "file", text_of(site->file), "line",
                     sg_json_count(site->line > 0, site->line), "module", text_of(site->module),
                     "offset", sg_json_count(site->module != NULL, site->offset), "matched_by",
                     both ? json_string(row->by_place ? "place" : "id") : json_null(), "a",
                     side_of(&row->side[0]), "b", side_of(&row->side[1]), "per_call",
                     both ? per_call_of(row) : json_null());
}

static json_t *rows_of(const struct sg_comparison *comparison)
{
    json_t *rows = json_array();

    for (uint32_t i = 0; i < comparison->row_count && rows != NULL; i++)
        sg_json_append(&rows, row_of(&comparison->rows[i]));
    return rows;
}

enum sg_status sg_comparison_print_json(const struct sg_comparison *comparison, FILE *out)
{
    json_t *root = json_pack(
        "{s:i, s:s, s:o, s:o, s:I, s:I, s:I, s:o}", "version", JSON_VERSION, "intervals",
        sg_comparison_has_several(comparison) ? "runs" : "instances", "a", runs_of(comparison, 0),
        "b", runs_of(comparison, 1), "both_count", (json_int_t)comparison->both_count,
        "only_a_count", (json_int_t)comparison->only_count[0], "only_b_count",
        (json_int_t)comparison->only_count[1], "sites", rows_of(comparison));

    return sg_json_print(root, DIGITS, "compare", out);
}

#define SIDE(side)                                                                                 \
    {.path = side ".runs"}, {.path = side ".calls"}, {.path = side ".bytes"},                      \
        {.path = side ".event_calls"}, {.path = side ".instances"}, {.path = side ".blocked_ns"},  \
        {.path = side ".wait_ns"}, {.path = side ".processor_ns"},                                 \
    {                                                                                              \
        .path = side ".algorithm"                                                                  \
    }
#define FIELD(measured, field)                                                                     \
    {                                                                                              \
        .path = "per_call." measured "." field, .name = measured "_" field                         \
    }
#define MEASURED(measured)                                                                         \
    FIELD(measured, "a_ns"), FIELD(measured, "b_ns"), FIELD(measured, "difference_ns"),            \
        FIELD(measured, "change"), FIELD(measured, "low_ns"), FIELD(measured, "high_ns"),          \
        FIELD(measured, "verdict")

/* The fields of the JSON's sites. */
static const struct sg_csv_column csv_columns[] = {
    {.path = "id"},
    {.path = "op"},
    {.path = "function"},
    {.path = "file"},
    {.path = "line"},
    {.path = "module"},
    {.path = "offset"},
    {.path = "matched_by"},
    SIDE("a"),
    SIDE("b"),
    MEASURED("blocked"),
    MEASURED("wait"),
    MEASURED("processor"),
};

enum sg_status sg_comparison_print_csv(const struct sg_comparison *comparison, FILE *out)
{
    static const struct sg_csv csv = {"\r\n", DIGITS, csv_columns,
                                      sizeof csv_columns / sizeof csv_columns[0]};
    json_t *rows = rows_of(comparison);

    if (rows == NULL) {
        sg_log("compare: out of memory");
        return SG_ERR_MEMORY;
    }
    sg_csv_print(&csv, rows, out);
    json_decref(rows);
    return SG_OK;
}
