/* All calls of MPI for programs: members of the report's JSON (docs/report-json.md), and their rows
 * as CSV. */
#include "output/json.h"
#include "output/csv.h"
#include "report/profile/calls.h"
#include "report/profile/columns.h"
#include "report/profile/print.h"

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

void sg_calls_json(json_t **root, const struct sg_report *report,
                   const struct sg_print_options *options)
{
    const struct sg_calls *calls = report->calls;

    sg_json_set(root, "mpi", calls != NULL ? mpi_of(calls) : json_null());
    sg_json_set(root, "functions", calls != NULL ? functions_of(calls, options) : json_null());
    sg_json_set(root, "calls", calls != NULL ? calls_of(calls, options) : json_null());
    sg_json_set(root, SG_CALLS_MESSAGES, json_null());
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
    };
    static const struct sg_calls none;
    const struct sg_calls *calls = report->calls != NULL ? report->calls : &none;
    json_t *rows = table == SG_PRINT_FUNCTIONS ? functions_of(calls, options)
                   : table == SG_PRINT_CALLS   ? calls_of(calls, options)
                                               : pairs_of(calls, options);

    return sg_csv_print(&forms[table], rows, "report", out);
}
