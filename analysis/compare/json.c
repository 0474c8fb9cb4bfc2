/* The comparison for programs: JSON (docs/compare-json.md, version 1), and its rows as CSV. Later
 * versions add fields but never change one. */
#include "output/json.h"
#include "compare/columns.h"
#include "compare/compare.h"
#include "output/csv.h"
#include "report/columns.h"

#include <jansson.h>

#define JSON_VERSION 1
#define DIGITS 12

/* As in the report, but "" is null, too. */
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
    json_t *value = json_object();

    if (!side->present) {
        json_decref(value);
        return json_null();
    }
    sg_columns_set(&value, sg_side_columns, side, NULL);
    return value;
}

static json_t *per_call_of(const struct sg_compared *row)
{
    json_t *value = json_object();

    for (int measured = 0; measured < SG_MEASURED_COUNT; measured++) {
        const struct sg_measured_row of = sg_measured_row_of(row, (enum sg_measured)measured);
        json_t *figures = json_object();

        sg_columns_set(&figures, sg_measured_columns, &of, NULL);
        sg_json_set(&value, of.measured, figures);
    }
    return value;
}

static json_t *row_of(const struct sg_compared *row)
{
    bool both = sg_compared_in_both(row);
    json_t *value = json_object();

    sg_columns_set(&value, sg_site_place_columns, row->site, NULL);
    sg_json_set(&value, "matched_by",
                both ? json_string(row->by_place ? "place" : "id") : json_null());
    sg_json_set(&value, "a", side_of(&row->side[0]));
    sg_json_set(&value, "b", side_of(&row->side[1]));
    sg_json_set(&value, "per_call", both ? per_call_of(row) : json_null());
    return value;
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

    sg_comparison_calls_json(&root, comparison);
    return sg_json_print(root, DIGITS, "compare", out);
}

/* The fields of the JSON's sites. */
#define SIDE(side)                                                                                 \
    " " side ".runs " side ".calls " side ".bytes " side ".event_calls " side ".instances " side   \
    ".blocked_ns " side ".wait_ns " side ".processor_ns " side ".algorithm"
#define FIELD(measured, field) " " measured "_" field "=per_call." measured "." field
#define MEASURED(measured)                                                                         \
    FIELD(measured, "a_ns")                                                                        \
    FIELD(measured, "b_ns")                                                                        \
    FIELD(measured, "difference_ns")                                                               \
    FIELD(measured, "change")                                                                      \
    FIELD(measured, "low_ns")                                                                      \
    FIELD(measured, "high_ns")                                                                     \
    FIELD(measured, "verdict")

enum sg_status sg_comparison_print_csv(const struct sg_comparison *comparison,
                                       enum sg_compare_table table, FILE *out)
{
    static const struct sg_csv csv = {"\r\n", DIGITS,
                                      "id op function file line module offset matched_by" SIDE("a")
                                          SIDE("b") MEASURED("blocked") MEASURED("wait")
                                              MEASURED("processor")};

    if (table != SG_COMPARE_SITES)
        return sg_comparison_print_calls_csv(comparison, table, out);
    return sg_csv_print(&csv, rows_of(comparison), "compare", out);
}
