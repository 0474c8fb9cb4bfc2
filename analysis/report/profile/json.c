/* All calls of MPI for programs: members of the report's JSON (docs/report-json.md), and their rows
 * as CSV. */
#include "output/json.h"
#include "output/csv.h"
#include "report/profile/calls.h"
#include "report/profile/columns.h"
#include "report/profile/primitives.h"
#include "report/profile/print.h"

#include <stdlib.h>
#include <strings.h>

static json_t *share_of(uint32_t rank, double share)
{
    return json_pack("{s:I, s:f}", "rank", (json_int_t)rank, "share", share);
}

static json_t *mpi_of(const struct sg_calls *calls)
{
    bool known = calls->processor_ns > 0;

    return json_pack("{s:I, s:I, s:o, s:o, s:o}", "time_ns", (json_int_t)calls->time_ns,
                     "processor_ns", (json_int_t)calls->processor_ns, "share",
                     sg_json_share(calls->time_ns, calls->processor_ns), "least",
                     known ? share_of(calls->least_rank, calls->least_share) : json_null(),
                     "greatest",
                     known ? share_of(calls->greatest_rank, calls->greatest_share) : json_null());
}

static json_t *functions_of(const struct sg_calls *calls, const struct sg_print_options *options)
{
    uint32_t count = sg_print_count(options, calls->function_count);
    json_t *rows = json_array();

    for (uint32_t i = 0; i < count && rows != NULL; i++) {
        json_t *row = json_object();

        sg_columns_set(&row, sg_call_function_columns, &calls->functions[i], calls);
        sg_columns_set(&row, sg_call_figure_columns, &calls->functions[i], calls);
        sg_json_append(&rows, row);
    }
    return rows;
}

static json_t *calls_of(const struct sg_calls *calls, const struct sg_print_options *options)
{
    uint32_t count = sg_print_count(options, calls->row_count);
    json_t *rows = json_array();

    for (uint32_t i = 0; i < count && rows != NULL; i++) {
        json_t *row = json_object();

        sg_columns_set(&row, sg_call_columns, &calls->rows[i], calls);
        sg_json_append(&rows, row);
    }
    return rows;
}

static json_t *pairs_of(const struct sg_calls *calls, const struct sg_print_options *options)
{
    uint32_t count = sg_print_count(options, calls->pair_count);
    json_t *rows = json_array();

    for (uint32_t i = 0; i < count && rows != NULL; i++) {
        json_t *row = json_object();

        sg_columns_set(&row, sg_call_pair_columns, &calls->pairs[i], calls);
        sg_json_append(&rows, row);
    }
    return rows;
}

/* ---- primitives, and what MMDS kept ---------------------------------------------------------- */

static json_t *primitives_of(const struct sg_calls *calls, const struct sg_print_options *options)
{
    struct sg_primitive *primitives;
    uint32_t count;
    json_t *rows;

    if (sg_primitives_make(calls, &primitives, &count) != SG_OK)
        return NULL;
    rows = json_array();
    count = sg_print_count(options, count);
    for (uint32_t i = 0; i < count && rows != NULL; i++) {
        json_t *row = json_object();

        sg_columns_set(&row, sg_primitive_columns, &primitives[i], NULL);
        sg_json_append(&rows, row);
    }
    free(primitives);
    return rows;
}

static json_t *points_of(const struct sg_mmds *mmds, enum sg_distribution of, bool is_first_thread)
{
    const struct sg_mmds_points points = sg_mmds_points_of(mmds, of, is_first_thread);
    bool known = points.count > 0;

    return json_pack("{s:I, s:I, s:o, s:o}", "count", (json_int_t)points.count, "total_ns",
                     (json_int_t)points.sum, "min_ns", sg_json_count(known, points.min), "max_ns",
                     sg_json_count(known, points.max));
}

/* Only of one primitive where only is not NULL. */
static json_t *bins_of(const struct sg_mmds *mmds, const char *only)
{
    json_t *rows = json_array();

    for (uint32_t i = 0; i < mmds->distribution_count && rows != NULL; i++) {
        const struct sg_mmds_distribution *distribution = &mmds->distributions[i];
        struct sg_primitive_bin *bins;
        uint32_t count;

        if (only != NULL && strcasecmp(distribution->primitive, only) != 0)
            continue;
        if (sg_primitive_bins(distribution, &bins, &count) != SG_OK) {
            json_decref(rows);
            return NULL;
        }
        for (uint32_t bin = 0; bin < count && rows != NULL; bin++) {
            json_t *row = json_object();

            sg_columns_set(&row, sg_bin_columns, &bins[bin], NULL);
            sg_json_set(&row, "first_thread",
                        sg_mmds_is_of_function(distribution->of)
                            ? json_null()
                            : json_boolean(distribution->is_first_thread));
            sg_json_append(&rows, row);
        }
        free(bins);
    }
    return rows;
}

static json_t *mmds_of(const struct sg_mmds *mmds)
{
    json_t *root;

    if (mmds->rank_count == 0)
        return json_null();
    root = json_pack("{s:I, s:I, s:I, s:I}", "ranks", (json_int_t)mmds->rank_count, "run_ns",
                     (json_int_t)mmds->run_ns, "sum_ns", (json_int_t)sg_mmds_sum_ns(mmds), "gap_ns",
                     (json_int_t)sg_mmds_gap_ns(mmds));
    sg_json_set(&root, "granularity", points_of(mmds, SG_DISTRIBUTION_GRANULARITY, true));
    sg_json_set(&root, "overhead", points_of(mmds, SG_DISTRIBUTION_OVERHEAD, true));
    sg_json_set(&root, "other_granularity", points_of(mmds, SG_DISTRIBUTION_GRANULARITY, false));
    sg_json_set(&root, "other_overhead", points_of(mmds, SG_DISTRIBUTION_OVERHEAD, false));
    sg_json_set(&root, "distributions", bins_of(mmds, NULL));
    return root;
}

/* ---- all of it ------------------------------------------------------------------------------- */

void sg_calls_json(json_t **root, const struct sg_report *report,
                   const struct sg_print_options *options)
{
    const struct sg_calls *calls = report->calls;

    sg_json_set(root, "mpi", calls != NULL ? mpi_of(calls) : json_null());
    sg_json_set(root, "functions", calls != NULL ? functions_of(calls, options) : json_null());
    sg_json_set(root, "calls", calls != NULL ? calls_of(calls, options) : json_null());
    sg_json_set(root, SG_CALLS_MESSAGES, json_null());
    sg_json_set(root, "primitives", calls != NULL ? primitives_of(calls, options) : json_null());
    sg_json_set(root, "mmds", calls != NULL ? mmds_of(&calls->mmds) : json_null());
}

void sg_calls_put_messages(struct sg_json_writer *writer, const struct sg_report *report,
                           const struct sg_print_options *options)
{
    const struct sg_calls *calls = report->calls;
    uint32_t count = calls != NULL ? sg_print_count(options, calls->pair_count) : 0;

    if (calls == NULL) {
        sg_json_put(writer, SG_CALLS_MESSAGES, json_null());
        return;
    }
    sg_json_begin(writer, SG_CALLS_MESSAGES, '{');
    sg_json_begin(writer, "pairs", '[');
    for (uint32_t i = 0; i < count; i++) {
        sg_json_begin(writer, NULL, '{');
        sg_columns_put(writer, sg_call_pair_columns, &calls->pairs[i], calls);
        sg_json_end(writer, '}');
    }
    sg_json_end(writer, ']');
    sg_json_put_count(writer, "other_messages", calls->other_messages);
    sg_json_put_count(writer, "other_bytes", calls->other_bytes);
    sg_json_end(writer, '}');
}

/* ---- CSV ------------------------------------------------------------------------------------- */

#define FIGURES                                                                                    \
    "calls failed_calls time_ns run_share mean_ns min_ns max_ns deviation_ns sent_bytes "          \
    "received_bytes completed_calls latency_mean_ns"

enum sg_status sg_calls_print_csv(const struct sg_report *report, enum sg_print_table table,
                                  const struct sg_print_options *options, FILE *out)
{
    static const struct sg_csv forms[] = {
        [SG_PRINT_FUNCTIONS] = {"\r\n", 6, "mpi_function " FIGURES},
        [SG_PRINT_CALLS] = {"\r\n", 6,
                            "mpi_function id function file line module offset comm "
                            "comm_size " FIGURES},
        [SG_PRINT_MESSAGES] = {"\r\n", 6,
                               "from to messages bytes sent_messages sent_bytes "
                               "received_messages received_bytes"},
        [SG_PRINT_PRIMITIVES] = {"\r\n", 6, "primitive min_ns max_ns total_ns count mean_ns open"},
        [SG_PRINT_DISTRIBUTIONS] = {"\r\n", 6, "primitive what first_thread from below count"},
    };
    static const struct sg_calls none;
    const struct sg_calls *calls = report->calls != NULL ? report->calls : &none;
    json_t *rows = table == SG_PRINT_FUNCTIONS    ? functions_of(calls, options)
                   : table == SG_PRINT_CALLS      ? calls_of(calls, options)
                   : table == SG_PRINT_MESSAGES   ? pairs_of(calls, options)
                   : table == SG_PRINT_PRIMITIVES ? primitives_of(calls, options)
                                                  : bins_of(&calls->mmds, options->distribution);

    return sg_csv_print(&forms[table], rows, "report", out);
}
