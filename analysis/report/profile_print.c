/* Prints all MPI calls: the table of columns, members of the report's JSON (docs/report-json.md),
 * CSV, and text for a terminal. All formats share the columns.
 */
#include "report/profile_print.h"

#include "output/format.h"
#include "output/json_output.h"
#include "output/table.h"
#include "report/profile_calls.h"
#include "report/profile_tables.h"
#include "report/report_columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KNOWN(name, condition)                                                                     \
    static bool knows_##name(const void *of)                                                       \
    {                                                                                              \
        const struct sg_call_row *row = of;                                                        \
                                                                                                   \
        return condition;                                                                          \
    }

KNOWN(id, row->place.has_id)
KNOWN(line, row->place.line > 0)
KNOWN(offset, row->place.module != NULL)
KNOWN(size, row->place.comm_size > 0)

static void print_comm(const void *of, const void *context, FILE *out)
{
    const struct sg_call_row *row = of;

    (void)context;
    if (row->place.comms == 0)
        fputs("-", out);
    else if (row->place.comm != NULL)
        sg_comm_put(row->place.comm, row->place.comm_size, out);
    else
        fprintf(out, "%" PRIu32 " comms", row->place.comms);
}

static void print_run(const void *of, const void *context, FILE *out)
{
    const struct sg_call_row *row = of;
    const struct sg_calls *calls = context;

    fputs(SG_SHARE(row->of.time_ns, calls->processor_ns), out);
}

static json_t *json_run(const void *of, const void *context)
{
    const struct sg_call_row *row = of;
    const struct sg_calls *calls = context;

    return sg_json_share(row->of.time_ns, calls->processor_ns);
}

#define IS(which, member) .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_call_row, member)

/* In JSON order. */
static const struct sg_column call_columns[] = {
    {"mpi_function", "function", "function", .left = true, IS(TEXT, function)},
    {"id", IS(ID, place.id), .known = knows_id},
    {"function", IS(TEXT, place.function)},
    {"file", IS(TEXT, place.file)},
    {"line", IS(COUNT32, place.line), .known = knows_line},
    {"module", IS(TEXT, place.module)},
    {"offset", IS(COUNT, place.offset), .known = knows_offset},
    {"comm", "comm", "comm", .left = true, .max_width = 16, IS(TEXT, place.comm),
     .print = print_comm},
    {"comm_size", IS(COUNT32, place.comm_size), .known = knows_size},
    {"calls", "calls", "calls", IS(COUNT, of.calls)},
    {"failed_calls", "failed", "failed", IS(COUNT, of.failed)},
    {"time_ns", "time", "time", IS(NS, of.time_ns)},
    {"run_share", "run", "run", .print = print_run, .json = json_run},
    {"mean_ns", "mean", "mean", IS(REAL_NS, mean_ns)},
    {"min_ns", "min", "min", IS(NS, of.min_ns)},
    {"max_ns", "max", "max", IS(NS, of.max_ns)},
    {"deviation_ns", "deviation", "stddev", IS(REAL_NS, deviation_ns)},
    {"sent_bytes", "sent", "sent", IS(BYTES, of.sent_bytes)},
    {"received_bytes", "received", "received", IS(BYTES, of.received_bytes)},
    {"completed_calls", IS(COUNT, of.completed)},
    {"latency_mean_ns", "latency", "latency", IS(REAL_NS, latency_ns)},
};
#define ALL (sizeof call_columns / sizeof *call_columns)
#define FUNCTIONS 1
#define PLACES 8
#define SITES 6 /* of PLACES: the call site alone */

const struct sg_columns sg_call_columns = {call_columns, ALL};
const struct sg_columns sg_call_function_columns = {call_columns, FUNCTIONS};
const struct sg_columns sg_call_place_columns = {call_columns + FUNCTIONS, PLACES};
const struct sg_columns sg_call_site_columns = {call_columns + FUNCTIONS, SITES};
const struct sg_columns sg_call_figure_columns = {call_columns + FUNCTIONS + PLACES,
                                                  ALL - FUNCTIONS - PLACES};

#define OF_PAIR(which, member)                                                                     \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_call_pair, member)

static const struct sg_column pair_columns[] = {
    {"from", "from", "from", OF_PAIR(COUNT32, from)},
    {"to", "to", "to", OF_PAIR(COUNT32, to)},
    {"messages", "messages", "messages", OF_PAIR(COUNT, messages)},
    {"bytes", "bytes", "bytes", OF_PAIR(BYTES, bytes)},
    {"sent_messages", OF_PAIR(COUNT, sent_messages)},
    {"sent_bytes", OF_PAIR(COUNT, sent_bytes)},
    {"received_messages", OF_PAIR(COUNT, received_messages)},
    {"received_bytes", OF_PAIR(COUNT, received_bytes)},
};
const struct sg_columns sg_call_pair_columns = {pair_columns,
                                                sizeof pair_columns / sizeof *pair_columns};

#define OF_TARGET(which, member)                                                                   \
    .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_call_target, member)

static const struct sg_column target_columns[] = {
    {"origin", "origin", "origin", OF_TARGET(COUNT32, origin)},
    {"target", "target", "target", OF_TARGET(COUNT32, target)},
    {"puts", "puts", "puts", OF_TARGET(COUNT, puts)},
    {"put_bytes", "put", "put", OF_TARGET(BYTES, put_bytes)},
    {"gets", "gets", "gets", OF_TARGET(COUNT, gets)},
    {"got_bytes", "got", "got", OF_TARGET(BYTES, got_bytes)},
};
const struct sg_columns sg_call_target_columns = {target_columns,
                                                  sizeof target_columns / sizeof *target_columns};

/* ---- JSON ------------------------------------------------------------------------------------ */

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

/* Primitives and the figures of MMDS. */

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

/* Bins of all primitives, or of the one named by only unless it is NULL. */
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

/* All members. */

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

/* Prints row by row, because there may be a million pairs. */
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

/* ---- text ------------------------------------------------------------------------------------ */

#define MATRIX_RANKS 16 /* more ranks than this: the largest pairs are shown instead of a matrix */

/* MPI's share of the run time. */

void sg_calls_print_share(const struct sg_report *report, FILE *out)
{
    const struct sg_calls *calls = report->calls;

    if (calls == NULL || calls->processor_ns == 0)
        return;
    sg_style_put_label("in MPI", out);
    fprintf(out, "%s of processor time (%s of %s)", SG_SHARE(calls->time_ns, calls->processor_ns),
            SG_NS(calls->time_ns), SG_NS(calls->processor_ns));
    if (calls->least_rank != calls->greatest_rank)
        fprintf(out, ", from %.1f%% on rank %" PRIu32 " to %.1f%% on rank %" PRIu32,
                100 * calls->least_share, calls->least_rank, 100 * calls->greatest_share,
                calls->greatest_rank);
    fputc('\n', out);
}

/* Functions and call sites. */

static void show_figures(struct sg_table *table, const struct sg_call_row *rows, uint32_t count,
                         const char *names)
{
    bool failed = false, completed = false;

    for (uint32_t i = 0; i < count; i++) {
        failed = failed || rows[i].of.failed > 0;
        completed = completed || rows[i].of.completed > 0;
    }
    sg_table_show(table, sg_call_columns, names);
    if (completed)
        sg_table_show(table, sg_call_columns, "latency");
    if (failed)
        sg_table_show(table, sg_call_columns, "failed");
}

enum sg_status sg_calls_print_functions(const struct sg_report *report,
                                        const struct sg_print_options *options, FILE *out)
{
    const struct sg_calls *calls = report->calls;
    uint32_t count = calls != NULL ? sg_print_count(options, calls->function_count) : 0;
    struct sg_table table = {0};

    if (count == 0)
        return SG_OK;
    show_figures(&table, calls->functions, count,
                 "function calls time run mean min max deviation sent received");
    for (uint32_t i = 0; i < count; i++)
        sg_table_row(&table, &calls->functions[i], calls);
    return sg_print_finish(&table, out);
}

enum sg_status sg_calls_print_sites(const struct sg_report *report,
                                    const struct sg_print_options *options, FILE *out)
{
    const struct sg_calls *calls = report->calls;
    struct sg_table table = {0};
    const struct sg_call_row *rows;
    uint32_t count;

    if (calls == NULL || !sg_calls_has_others(calls))
        return SG_OK;
    rows = options->comms ? calls->rows : calls->sites;
    count = sg_print_count_of_long(options, options->comms ? calls->row_count : calls->site_count);
    sg_table_show(&table, sg_call_columns, "function");
    sg_table_show(&table, sg_site_columns, "site");
    show_figures(&table, rows, count, "comm calls time run mean max sent received");
    for (uint32_t i = 0; i < count; i++)
        sg_table_row(&table, &rows[i], calls);
    return sg_print_finish(&table, out);
}

void sg_calls_print_left_out(const struct sg_report *report, const struct sg_print_options *options,
                             FILE *out)
{
    const struct sg_calls *calls = report->calls;
    uint32_t all;

    if (calls != NULL && sg_print_count(options, calls->function_count) < calls->function_count)
        fprintf(out, "note: %" PRIu32 " of %" PRIu32 " functions are shown\n",
                sg_print_count(options, calls->function_count), calls->function_count);
    if (calls == NULL || !sg_calls_has_others(calls))
        return;
    all = options->comms ? calls->row_count : calls->site_count;
    if (sg_print_count_of_long(options, all) < all)
        fprintf(out, "note: %" PRIu32 " of %" PRIu32 " %s of MPI functions are shown (--top)\n",
                sg_print_count_of_long(options, all), all, options->comms ? "rows" : "call sites");
}

/* Messages and one-sided operations. */

struct matrix {
    const struct sg_calls *calls;
    const struct sg_call_pair *pairs[MATRIX_RANKS][MATRIX_RANKS]; /* NULL: no messages */
};

static void add_cell(struct sg_table *table, const struct sg_call_pair *pair, bool bytes)
{
    if (pair == NULL)
        sg_table_addf(table, "-");
    else if (bytes)
        sg_table_addf(table, "%s", SG_BYTES(pair->bytes));
    else
        sg_table_addf(table, "%" PRIu64, pair->messages);
}

static enum sg_status put_matrix(const struct matrix *matrix, bool bytes, FILE *out)
{
    struct sg_column columns[MATRIX_RANKS + 1] = {
        {.header = bytes ? "bytes to" : "messages to", .left = true}};
    char headers[MATRIX_RANKS][12];
    struct sg_table table = {.column_count = 1, .columns = {&columns[0]}};
    uint32_t ranks = matrix->calls->rank_count;

    for (uint32_t to = 0; to < ranks; to++) {
        snprintf(headers[to], sizeof headers[to], "%" PRIu32, to);
        columns[1 + to].header = headers[to];
        table.columns[table.column_count++] = &columns[1 + to];
    }
    for (uint32_t from = 0; from < ranks; from++) {
        sg_table_addf(&table, "from %" PRIu32, from);
        for (uint32_t to = 0; to < ranks; to++)
            add_cell(&table, matrix->pairs[from][to], bytes);
    }
    return sg_print_finish(&table, out);
}

static enum sg_status put_matrices(const struct sg_calls *calls, FILE *out)
{
    struct matrix matrix = {.calls = calls};
    enum sg_status status;

    for (uint32_t i = 0; i < calls->pair_count; i++)
        matrix.pairs[calls->pairs[i].from][calls->pairs[i].to] = &calls->pairs[i];
    status = put_matrix(&matrix, true, out);
    return status == SG_OK ? put_matrix(&matrix, false, out) : status;
}

static enum sg_status put_pairs(const struct sg_calls *calls,
                                const struct sg_print_options *options, FILE *out)
{
    uint32_t count = sg_print_count_of_long(options, calls->pair_count);
    struct sg_table table = {0};

    fprintf(out, "messages between ranks, %" PRIu32 " of %" PRIu32 " pairs:\n", count,
            calls->pair_count);
    sg_table_show(&table, sg_call_pair_columns, NULL);
    for (uint32_t i = 0; i < count; i++)
        sg_table_row(&table, &calls->pairs[i], calls);
    return sg_print_finish(&table, out);
}

static enum sg_status text_put_one_sided(const struct sg_call_targets *targets,
                                         const struct sg_print_options *options, FILE *out)
{
    uint32_t count = sg_print_count_of_long(options, targets->count);
    const struct sg_call_target *others = &targets->others;
    enum sg_status status = SG_OK;
    struct sg_table table = {0};

    if (targets->count > 0) {
        fprintf(out, "one-sided operations, %" PRIu32 " of %" PRIu32 " pairs:\n", count,
                targets->count);
        sg_table_show(&table, sg_call_target_columns, NULL);
        for (uint32_t i = 0; i < count; i++)
            sg_table_row(&table, &targets->rows[i], NULL);
        status = sg_print_finish(&table, out);
    }
    if (others->puts > 0 || others->gets > 0)
        fprintf(
            out,
            "one-sided operations on unknown ranks: %" PRIu64 " puts, %s; %" PRIu64 " gets, %s\n\n",
            others->puts, SG_BYTES(others->put_bytes), others->gets, SG_BYTES(others->got_bytes));
    return status;
}

enum sg_status sg_calls_print_messages(const struct sg_report *report,
                                       const struct sg_print_options *options, FILE *out)
{
    const struct sg_calls *calls = report->calls;
    enum sg_status status = SG_OK;

    if (calls != NULL && calls->pair_count > 0)
        status = calls->rank_count <= MATRIX_RANKS ? put_matrices(calls, out)
                                                   : put_pairs(calls, options, out);
    if (calls != NULL && calls->other_messages > 0)
        fprintf(out, "messages to ranks that are not known: %" PRIu64 ", %s\n\n",
                calls->other_messages, SG_BYTES(calls->other_bytes));
    return calls != NULL && status == SG_OK ? text_put_one_sided(&calls->one_sided, options, out)
                                            : status;
}
