/* What ranks did before calls, as text, JSON and CSV. */
#include "report/before/print.h"

#include "output/csv.h"
#include "output/format.h"
#include "output/json.h"
#include "output/table.h"
#include "report/before/before.h"
#include "report/before/columns.h"
#include "report/profile/calls.h"
#include "report/waitstates/columns.h"

#include <inttypes.h>

static const struct sg_before *before_of(const struct sg_report *report)
{
    static const struct sg_before none;

    return report->calls != NULL && report->calls->before != NULL ? report->calls->before : &none;
}

enum sg_status sg_before_print(const struct sg_report *report,
                               const struct sg_print_options *options, FILE *out)
{
    const struct sg_before *before = before_of(report);
    struct sg_table table = {0};
    uint32_t count = sg_print_count_of_long(options, before->row_count);

    if (report->has_events || before->row_count == 0)
        return SG_OK;
    fprintf(out, "between calls      %" PRIu64 " intervals sampled, %s in sum", before->intervals,
            SG_NS(before->time_ns));
    if (count < before->row_count)
        fprintf(out, "; %" PRIu32 " of %" PRIu32 " rows (--top)", count, before->row_count);
    fputs("\n", out);
    sg_table_show(&table, sg_before_columns,
                  "rank longer intervals mean others cpu runnable off faults switches cause where");
    for (uint32_t i = 0; i < count; i++)
        sg_table_row(&table, &before->rows[i], NULL);
    return sg_print_finish(&table, out);
}

/* A quota is not there where there is none to be read; and a call's figures are those of others. */
static bool is_missing(const struct sg_before *before, enum sg_source source)
{
    static const bool is_told[SG_SOURCE_COUNT] = {
        [SG_SOURCE_SCHEDULER] = true, [SG_SOURCE_USAGE] = true,    [SG_SOURCE_MIGRATIONS] = true,
        [SG_SOURCE_COUNTERS] = true,  [SG_SOURCE_SWITCHES] = true, [SG_SOURCE_THREADS] = true,
    };

    return is_told[source] && before->row_count > 0 && (before->mask & sg_source_mask(source)) == 0;
}

void sg_before_print_missing(const struct sg_report *report, FILE *out)
{
    const struct sg_before *before = before_of(report);
    bool has_begun = false;

    for (unsigned source = 0; source < SG_SOURCE_COUNT; source++) {
        if (!is_missing(before, source))
            continue;
        fprintf(out, "%s%s", has_begun ? ", " : "note: causes are told without ",
                sg_source_table[source].name);
        has_begun = true;
    }
    if (has_begun)
        fputs(", which were not there (stagger info)\n", out);
}

/* ---- for programs ---------------------------------------------------------------------------- */

static json_t *rows_of(const struct sg_before *before, const struct sg_print_options *options)
{
    uint32_t count = sg_print_count(options, before->row_count);
    json_t *rows = json_array();

    for (uint32_t i = 0; i < count && rows != NULL; i++) {
        json_t *row = json_object();

        sg_columns_set(&row, sg_before_columns, &before->rows[i], NULL);
        sg_json_set(&row, "after", sg_waitstate_place_json(before->rows[i].after));
        sg_json_set(&row, "until", sg_waitstate_place_json(before->rows[i].until));
        sg_json_append(&rows, row);
    }
    return rows;
}

static json_t *missing_of(const struct sg_before *before)
{
    json_t *names = json_array();

    for (unsigned source = 0; source < SG_SOURCE_COUNT; source++) {
        if (is_missing(before, source))
            sg_json_append(&names, json_string(sg_source_table[source].name));
    }
    return names;
}

void sg_before_json(json_t **root, const struct sg_report *report,
                    const struct sg_print_options *options)
{
    const struct sg_before *before = before_of(report);
    json_t *whole;

    if (before->row_count == 0) {
        sg_json_set(root, "intervals", json_null());
        return;
    }
    whole = json_pack("{s:I, s:I, s:I}", "intervals", (json_int_t)before->intervals, "time_ns",
                      (json_int_t)before->time_ns, "row_count", (json_int_t)before->row_count);
    sg_json_set(&whole, "missing_sources", missing_of(before));
    sg_json_set(&whole, "rows", rows_of(before, options));
    sg_json_set(root, "intervals", whole);
}

enum sg_status sg_before_print_csv(const struct sg_report *report,
                                   const struct sg_print_options *options, FILE *out)
{
    static const struct sg_csv csv = {
        "\r\n", 6,
        "rank intervals time_ns mean_ns others_mean_ns longer_ns cause cpu_ns runnable_ns off_ns "
        "throttled_ns user_ns system_ns minor_faults major_faults voluntary_switches "
        "involuntary_switches blocks_in blocks_out migrations instructions cycles cache_misses "
        "threads_here_ns threads_elsewhere_ns "
        "after.mpi_function after.id after.function after.file after.line until.mpi_function "
        "until.id until.function until.file until.line"};

    return sg_csv_print(&csv, rows_of(before_of(report), options), "report", out);
}
