/* All calls of MPI for programs: members of the report's JSON (docs/report-json.md), and their rows
 * as CSV. */
#include "output/json.h"
#include "output/csv.h"
#include "report/profile/calls.h"
#include "report/profile/columns.h"
#include "report/profile/primitives.h"
#include "report/profile/print.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MESSAGES "messages"
#define ONE_SIDED "one_sided"

static json_t *share_of(uint32_t rank, double share)
{
    return json_pack("{s:I, s:f}", "rank", (json_int_t)rank, "share", share);
}

json_t *sg_calls_json_share(const struct sg_calls *calls)
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

    sg_json_set(root, "mpi", calls != NULL ? sg_calls_json_share(calls) : json_null());
    sg_json_set(root, "functions", calls != NULL ? functions_of(calls, options) : json_null());
    sg_json_set(root, "calls", calls != NULL ? calls_of(calls, options) : json_null());
    sg_json_set(root, MESSAGES, json_null());
    sg_json_set(root, ONE_SIDED, json_null());
    sg_json_set(root, "primitives", calls != NULL ? primitives_of(calls, options) : json_null());
    sg_json_set(root, "mmds", calls != NULL ? mmds_of(&calls->mmds) : json_null());
}

static void put_messages(struct sg_json_writer *writer, const struct sg_calls *calls,
                         uint32_t count)
{
    sg_json_begin(writer, "pairs", '[');
    for (uint32_t i = 0; i < count; i++) {
        sg_json_begin(writer, NULL, '{');
        sg_columns_put(writer, sg_call_pair_columns, &calls->pairs[i], calls);
        sg_json_end(writer, '}');
    }
    sg_json_end(writer, ']');
    sg_json_put_count(writer, "other_messages", calls->other_messages);
    sg_json_put_count(writer, "other_bytes", calls->other_bytes);
}

static void put_one_sided(struct sg_json_writer *writer, const struct sg_call_targets *targets,
                          uint32_t count)
{
    sg_json_begin(writer, "pairs", '[');
    for (uint32_t i = 0; i < count; i++) {
        sg_json_begin(writer, NULL, '{');
        sg_columns_put(writer, sg_call_target_columns, &targets->rows[i], NULL);
        sg_json_end(writer, '}');
    }
    sg_json_end(writer, ']');
    sg_json_put_count(writer, "other_puts", targets->others.puts);
    sg_json_put_count(writer, "other_put_bytes", targets->others.put_bytes);
    sg_json_put_count(writer, "other_gets", targets->others.gets);
    sg_json_put_count(writer, "other_got_bytes", targets->others.got_bytes);
}

bool sg_calls_put_pairs(struct sg_json_writer *writer, const char *member,
                        const struct sg_report *report, const struct sg_print_options *options)
{
    const struct sg_calls *calls = report->calls;
    bool is_messages = strcmp(member, MESSAGES) == 0;

    if (!is_messages && strcmp(member, ONE_SIDED) != 0)
        return false;
    if (calls == NULL) {
        sg_json_put(writer, member, json_null());
        return true;
    }
    sg_json_begin(writer, member, '{');
    if (is_messages)
        put_messages(writer, calls, sg_print_count(options, calls->pair_count));
    else
        put_one_sided(writer, &calls->one_sided, sg_print_count(options, calls->one_sided.count));
    sg_json_end(writer, '}');
    return true;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

#define FIGURES                                                                                    \
    "calls failed_calls time_ns run_share mean_ns min_ns max_ns deviation_ns sent_bytes "          \
    "received_bytes completed_calls latency_mean_ns"

/* One by one: there may be a million. */
static enum sg_status print_pairs(const struct sg_csv *csv, const struct sg_columns columns,
                                  const void *rows, size_t row_bytes, uint32_t count, FILE *out)
{
    enum sg_status status = SG_OK;

    sg_csv_begin(csv, out);
    for (uint32_t i = 0; i < count && status == SG_OK; i++) {
        json_t *row = json_object();

        sg_columns_set(&row, columns, (const char *)rows + i * row_bytes, NULL);
        status = sg_csv_row(csv, row, out);
    }
    if (status != SG_OK)
        sg_log("report: %s", sg_status_text(status));
    return status;
}

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
        [SG_PRINT_ONE_SIDED] = {"\r\n", 6, "origin target puts put_bytes gets got_bytes"},
        [SG_PRINT_PRIMITIVES] = {"\r\n", 6, "primitive min_ns max_ns total_ns count mean_ns open"},
        [SG_PRINT_DISTRIBUTIONS] = {"\r\n", 6, "primitive what first_thread from below count"},
    };
    static const struct sg_calls none;
    const struct sg_calls *calls = report->calls != NULL ? report->calls : &none;
    const struct sg_call_targets *targets = &calls->one_sided;
    json_t *rows;

    if (table == SG_PRINT_MESSAGES)
        return print_pairs(&forms[table], sg_call_pair_columns, calls->pairs, sizeof *calls->pairs,
                           sg_print_count(options, calls->pair_count), out);
    if (table == SG_PRINT_ONE_SIDED)
        return print_pairs(&forms[table], sg_call_target_columns, targets->rows,
                           sizeof *targets->rows, sg_print_count(options, targets->count), out);
    rows = table == SG_PRINT_FUNCTIONS    ? functions_of(calls, options)
           : table == SG_PRINT_CALLS      ? calls_of(calls, options)
           : table == SG_PRINT_PRIMITIVES ? primitives_of(calls, options)
                                          : bins_of(&calls->mmds, options->distribution);

    return sg_csv_print(&forms[table], rows, "report", out);
}
