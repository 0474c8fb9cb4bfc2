/* The critical path for programs: a member of the report's JSON (docs/report-json.md), and its rows
 * as CSV. */
#include "output/json.h"
#include "output/csv.h"
#include "report/path/columns.h"
#include "report/path/path.h"
#include "report/path/print.h"
#include "report/waitstates/columns.h"

static json_t *rows_of(const struct sg_path *path, const struct sg_print_options *options)
{
    uint32_t count = sg_print_count(options, path->row_count);
    json_t *rows = json_array();

    for (uint32_t i = 0; i < count && rows != NULL; i++) {
        json_t *row = json_object();

        sg_columns_set(&row, sg_path_columns, &path->rows[i], path);
        sg_json_set(&row, "after", sg_waitstate_place_json(&path->rows[i].after));
        sg_json_set(&row, "until", sg_waitstate_place_json(&path->rows[i].until));
        sg_json_append(&rows, row);
    }
    return rows;
}

void sg_path_json(json_t **root, const struct sg_report *report,
                  const struct sg_print_options *options)
{
    const struct sg_path *path = report->critical_path;
    json_t *whole;

    if (path == NULL) {
        sg_json_set(root, "critical_path", json_null());
        return;
    }
    whole = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "path_ns", (json_int_t)path->ns,
                      "calls_ns", (json_int_t)path->calls_ns, "intervals_ns",
                      (json_int_t)path->intervals_ns, "changes", (json_int_t)path->changes,
                      "saving_ns", (json_int_t)path->saving_ns, "saving_error_ns",
                      (json_int_t)path->saving_error_ns, "row_count", (json_int_t)path->row_count);
    sg_json_set(&whole, "rows", rows_of(path, options));
    sg_json_set(root, "critical_path", whole);
}

enum sg_status sg_path_print_csv(const struct sg_report *report,
                                 const struct sg_print_options *options, FILE *out)
{
    static const struct sg_csv csv = {
        "\r\n", 6,
        "kind path_ns times mean_ns saving_ns saving_error_ns rank rank_ns ranks "
        "after.mpi_function after.id after.function after.file after.line after.module "
        "after.offset until.mpi_function until.id until.function until.file until.line "
        "until.module until.offset"};
    static const struct sg_path none;
    const struct sg_path *path = report->critical_path != NULL ? report->critical_path : &none;

    return sg_csv_print(&csv, rows_of(path, options), "report", out);
}
