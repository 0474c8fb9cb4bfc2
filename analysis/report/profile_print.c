/* Prints all MPI calls: the table of columns, members of the report's JSON (docs/report-json.md),
 * CSV, and text for a terminal. All formats share the columns.
 */

#include "output/format.h"
#include "report/profile_calls.h"
#include "report/report_columns.h"
#include "report/report_section.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool knows_size(const void *of)
{
    return ((const struct sg_call_row *)of)->place.comm_size > 0;
}

static void print_comm(const void *of, const void *context, FILE *out)
{
    const struct sg_call_row *row = of;

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

static bool has_waiting(const void *of)
{
    const struct sg_call_row *row = of;

    return row->has_waiting;
}

#define IS(which, member) .kind = SG_COLUMN_##which, .offset = offsetof(struct sg_call_row, member)

/* In JSON order. */
static const struct sg_column call_columns[] = {
    {"mpi_function", "function", "function", .left = true, IS(TEXT, function)},
    SG_SITE_ALONE_COLUMNS,
    {"comm", "comm", "comm", .left = true, .max_width = 16, IS(TEXT, place.comm),
     .print = print_comm},
    {"comm_size", IS(COUNT32, place.comm_size), .known = knows_size},
    {"calls", "calls", "calls", IS(COUNT, of.calls)},
    {"failed_calls", "failed", "failed", IS(COUNT, of.failed)},
    {"time_ns", "time", "time", IS(NS, of.time_ns)},
    {"run_share", "run", "run", .print = print_run, .json = json_run},
    {NULL, "waiting", "waiting", IS(NS, waiting_ns), .known = has_waiting},
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
const struct sg_columns sg_call_site_columns = {call_columns + FUNCTIONS, SITES};
static const struct sg_columns figure_columns = {call_columns + FUNCTIONS + PLACES,
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
static const struct sg_columns all_pair_columns = SG_COLUMNS(pair_columns);

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
static const struct sg_columns all_target_columns = SG_COLUMNS(target_columns);

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *share_of(uint32_t rank, double share)
{
    return json_pack("{s:I, s:f}", "rank", (json_int_t)rank, "share", share);
}

json_t *sg_calls_json_share(const struct sg_calls *calls)
{
    bool known = calls->processor_ns > 0;

    return json_pack(
        "{s:I, s:I, s:I, s:o, s:o, s:o}", "time_ns", (json_int_t)calls->time_ns, "init_finalize_ns",
        (json_int_t)calls->ends_ns, "processor_ns", (json_int_t)calls->processor_ns, "share",
        sg_json_share(calls->time_ns, calls->processor_ns), "least",
        known ? share_of(calls->least_rank, calls->least_share) : json_null(), "greatest",
        known ? share_of(calls->greatest_rank, calls->greatest_share) : json_null());
}

/* The figures of MMDS. */

static json_t *points_of(const struct sg_mmds *mmds, enum sg_distribution of, bool is_first_thread)
{
    const struct sg_mmds_points points = sg_mmds_points_of(mmds, of, is_first_thread);
    bool known = points.count > 0;

    return json_pack("{s:I, s:I, s:o, s:o}", "count", (json_int_t)points.count, "total_ns",
                     (json_int_t)points.sum, "min_ns", sg_json_count(known, points.min), "max_ns",
                     sg_json_count(known, points.max));
}

/* Passes on the bins of each distribution: of all primitives, or of the one named by only unless it
 * is NULL. */
static enum sg_status each_bins(const struct sg_mmds *mmds, const char *only,
                                enum sg_status (*take)(const struct sg_rows *bins, void *to),
                                void *to)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < mmds->distribution_count && status == SG_OK; i++) {
        struct sg_primitive_bin *bins;
        uint32_t count;

        if (only != NULL && strcasecmp(mmds->distributions[i].primitive, only) != 0)
            continue;
        status = sg_primitive_bins(&mmds->distributions[i], &bins, &count);
        if (status != SG_OK)
            continue;
        status = take(&SG_ROWS(bins, count, NULL), to);
        free(bins);
    }
    return status;
}

static enum sg_status put_bins(const struct sg_rows *bins, void *to)
{
    sg_section_put_rows(&sg_distributions_section.table, bins, to);
    return SG_OK;
}

static void put_mmds(const struct sg_mmds *mmds, struct sg_json_writer *writer)
{
    if (mmds->rank_count == 0) {
        sg_json_put(writer, "mmds", json_null());
        return;
    }
    sg_json_begin(writer, "mmds", '{');
    sg_json_put_count(writer, "ranks", mmds->rank_count);
    sg_json_put_count(writer, "run_ns", mmds->run_ns);
    sg_json_put_count(writer, "sum_ns", sg_mmds_sum_ns(mmds));
    sg_json_put(writer, "gap_ns", json_integer(sg_mmds_gap_ns(mmds)));
    sg_json_put(writer, "granularity", points_of(mmds, SG_DISTRIBUTION_GRANULARITY, true));
    sg_json_put(writer, "overhead", points_of(mmds, SG_DISTRIBUTION_OVERHEAD, true));
    sg_json_put(writer, "other_granularity", points_of(mmds, SG_DISTRIBUTION_GRANULARITY, false));
    sg_json_put(writer, "other_overhead", points_of(mmds, SG_DISTRIBUTION_OVERHEAD, false));
    sg_json_begin(writer, "distributions", '[');
    if (each_bins(mmds, NULL, put_bins, writer) != SG_OK)
        writer->failed = true;
    sg_json_end(writer, ']');
    sg_json_end(writer, '}');
}

/* All members. */

static void put_primitives(const struct sg_calls *calls, const struct sg_print_options *options,
                           struct sg_json_writer *writer)
{
    struct sg_primitive *primitives;
    uint32_t count;

    if (calls == NULL || sg_primitives_make(calls, &primitives, &count) != SG_OK) {
        sg_json_put(writer, "primitives", calls == NULL ? json_null() : NULL);
        return;
    }
    sg_section_put(&sg_primitives_section.table,
                   &SG_ROWS(primitives, sg_print_count(options, count), NULL), writer);
    free(primitives);
}

SG_REPORT_MEMBER(sg_calls_put)
{
    static const char *const unknown[] = {"messages", "one_sided", "primitives", "mmds"};
    const struct sg_calls *calls = report->calls;
    const struct sg_print_options each = {.top = options->top, .comms = true};

    sg_json_put(writer, "mpi", calls != NULL ? sg_calls_json_share(calls) : json_null());
    sg_report_put(&sg_functions_section, report, options, writer);
    sg_report_put(&sg_calls_section, report, &each, writer);
    for (size_t i = 0; calls == NULL && i < sizeof unknown / sizeof *unknown; i++)
        sg_json_put(writer, unknown[i], json_null());
    if (calls == NULL)
        return;
    sg_json_begin(writer, "messages", '{');
    sg_report_put(&sg_messages_section, report, options, writer);
    sg_json_put_count(writer, "other_messages", calls->other_messages);
    sg_json_put_count(writer, "other_bytes", calls->other_bytes);
    sg_json_end(writer, '}');
    sg_json_begin(writer, "one_sided", '{');
    sg_report_put(&sg_one_sided_section, report, options, writer);
    sg_json_put_count(writer, "other_puts", calls->one_sided.others.puts);
    sg_json_put_count(writer, "other_put_bytes", calls->one_sided.others.put_bytes);
    sg_json_put_count(writer, "other_gets", calls->one_sided.others.gets);
    sg_json_put_count(writer, "other_got_bytes", calls->one_sided.others.got_bytes);
    sg_json_end(writer, '}');
    put_primitives(calls, options, writer);
    put_mmds(&calls->mmds, writer);
}

/* ---- CSV of distributions ----------------------------------------------------- */

static enum sg_status print_bins(const struct sg_rows *bins, void *to)
{
    return sg_section_csv_rows(&sg_distributions_section.table, bins, "report", to);
}

static SG_REPORT_PRINTER(print_bins_csv)
{
    sg_section_csv_begin(&sg_distributions_section.table, out);
    return report->calls != NULL
               ? each_bins(&report->calls->mmds, options->distribution, print_bins, out)
               : SG_OK;
}

/* ---- text ------------------------------------------------------------------------------------ */

#define MATRIX_RANKS 16 /* more ranks than this: the largest pairs are shown instead of a matrix */

static void put_share(const struct sg_report *report, uint32_t shown, FILE *out)
{
    const struct sg_calls *calls = report->calls;

    if (calls->processor_ns == 0)
        return;
    sg_style_put_label("in MPI", out);
    fprintf(out, "%s of rank time (%s of %s)", SG_SHARE(calls->time_ns, calls->processor_ns),
            SG_NS(calls->time_ns), SG_NS(calls->processor_ns));
    if (calls->least_rank != calls->greatest_rank)
        fprintf(out, ", from %.1f%% on rank %" PRIu32 " to %.1f%% on rank %" PRIu32,
                100 * calls->least_share, calls->least_rank, 100 * calls->greatest_share,
                calls->greatest_rank);
    fputc('\n', out);
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
    struct sg_table table = {.column_count = 1, .columns = {{.column = &columns[0]}}};
    uint32_t ranks = matrix->calls->rank_count;

    for (uint32_t to = 0; to < ranks; to++) {
        snprintf(headers[to], sizeof headers[to], "%" PRIu32, to);
        columns[1 + to].header = headers[to];
        table.columns[table.column_count++] = (struct sg_cell){&columns[1 + to], 0};
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

static void put_pairs_lead(const struct sg_report *report, uint32_t shown, FILE *out)
{
    fprintf(out, "messages between ranks, %" PRIu32 " of %" PRIu32 " pairs:\n", shown,
            report->calls->pair_count);
}

static SG_REPORT_PRINTER(print_messages)
{
    const struct sg_calls *calls = report->calls;
    enum sg_status status = SG_OK;

    if (calls == NULL)
        return SG_OK;
    if (calls->pair_count > 0 && calls->rank_count <= MATRIX_RANKS)
        sg_report_put_title(&sg_messages_section, report, out);
    if (calls->pair_count > 0)
        status = calls->rank_count <= MATRIX_RANKS
                     ? put_matrices(calls, out)
                     : sg_report_print_table(&sg_messages_section, report, options, out);
    if (calls->other_messages > 0)
        fprintf(out, "messages to unknown ranks: %" PRIu64 ", %s\n\n", calls->other_messages,
                SG_BYTES(calls->other_bytes));
    return status;
}

static void put_targets_lead(const struct sg_report *report, uint32_t shown, FILE *out)
{
    fprintf(out, "one-sided operations, %" PRIu32 " of %" PRIu32 " pairs:\n", shown,
            report->calls->one_sided.count);
}

static SG_REPORT_PRINTER(print_one_sided)
{
    enum sg_status status = sg_report_print_table(&sg_one_sided_section, report, options, out);
    const struct sg_call_target *others =
        report->calls != NULL ? &report->calls->one_sided.others : NULL;

    if (others != NULL && (others->puts > 0 || others->gets > 0))
        fprintf(
            out,
            "one-sided operations on unknown ranks: %" PRIu64 " puts, %s; %" PRIu64 " gets, %s\n\n",
            others->puts, SG_BYTES(others->put_bytes), others->gets, SG_BYTES(others->got_bytes));
    return status;
}

/* ---- sections -------------------------------------------------------------------------------- */

#define ROWS(name, array, count)                                                                   \
    static struct sg_rows name##_of(const struct sg_report *report,                                \
                                    const struct sg_print_options *options)                        \
    {                                                                                              \
        const struct sg_calls *calls = report->calls;                                              \
                                                                                                   \
        return calls != NULL ? SG_ROWS(array, count, calls) : (struct sg_rows){0};                 \
    }

ROWS(functions, calls->functions, calls->function_count)
ROWS(calls, options->comms ? calls->rows : calls->sites,
     options->comms ? calls->row_count : calls->site_count)
ROWS(pairs, calls->pairs, calls->pair_count)
ROWS(targets, calls->one_sided.rows, calls->one_sided.count)

static bool has_others(const struct sg_report *report)
{
    return report->calls != NULL && sg_calls_has_others(report->calls);
}

#define FIGURES                                                                                    \
    "calls failed_calls time_ns run_share mean_ns min_ns max_ns deviation_ns sent_bytes "          \
    "received_bytes completed_calls latency_mean_ns"

const struct sg_report_section sg_functions_section = {
    .name = "functions",
    .part = SG_PART_CALLS,
    .lead = put_share,
    .title = "How long calls of each MPI function take",
    .rows = functions_of,
    .rows_are = "functions",
    .limit = SG_ROWS_TOP,
    .table = {.member = "functions",
              .json = {&sg_call_function_columns, &figure_columns},
              .csv = "mpi_function " FIGURES,
              .text = {&sg_call_columns},
              .shown = "function calls time run mean min max deviation sent received latency? "
                       "failed?"}};

/* An unrolled loop calls from several addresses of one line, which its user sees as one. */
static SG_REPORT_PRINTER(print_calls)
{
    struct sg_report shown = *report;
    struct sg_calls lines;
    enum sg_status status = SG_ERR_MEMORY;

    if (report->calls == NULL)
        return SG_OK;
    lines = *report->calls;
    lines.sites = sg_call_rows_by_line(lines.sites, &lines.site_count, false);
    lines.rows = sg_call_rows_by_line(lines.rows, &lines.row_count, true);
    shown.calls = &lines;
    if (lines.sites != NULL && lines.rows != NULL)
        status = sg_report_print_table(&sg_calls_section, &shown, options, out);
    free(lines.sites);
    free(lines.rows);
    return status;
}

const struct sg_report_section sg_calls_section = {
    .name = "calls",
    .part = SG_PART_CALLS,
    .title = "Calls of MPI functions by call site",
    .rows = calls_of,
    .rows_are = "call sites of MPI functions",
    .comm_rows_are = "rows of MPI functions",
    .is_shown = has_others,
    .print = print_calls,
    .table = {.member = "calls",
              .json = {&sg_call_columns},
              .csv = "mpi_function id function file line module offset comm comm_size " FIGURES,
              .text = {&sg_call_columns, &sg_site_columns},
              .shown = "function site comm calls time run waiting? mean max sent received latency? "
                       "failed?"}};

const struct sg_report_section sg_messages_section = {
    .name = "messages",
    .part = SG_PART_MESSAGES,
    .title = "How much ranks send to each other",
    .rows = pairs_of,
    .lead = put_pairs_lead,
    .print = print_messages,
    .table = {.member = "pairs",
              .json = {&all_pair_columns},
              .csv = "from to messages bytes sent_messages sent_bytes received_messages "
                     "received_bytes",
              .text = {&all_pair_columns}}};

const struct sg_report_section sg_one_sided_section = {
    .name = "one-sided",
    .part = SG_PART_RMA,
    .title = "How much ranks put into and get from each other's windows",
    .rows = targets_of,
    .lead = put_targets_lead,
    .print = print_one_sided,
    .table = {.member = "pairs",
              .json = {&all_target_columns},
              .csv = "origin target puts put_bytes gets got_bytes",
              .text = {&all_target_columns}}};

const struct sg_report_section sg_distributions_section = {
    .name = "distributions",
    .csv = print_bins_csv,
    .table = {.json = {&sg_bin_columns}, .csv = "primitive what first_thread from below count"}};
