/* All calls of MPI for people at a terminal. */
#include "output/format.h"
#include "output/style.h"
#include "output/table.h"
#include "report/columns.h"
#include "report/profile/calls.h"
#include "report/profile/columns.h"
#include "report/profile/print.h"

#include <inttypes.h>

#define MATRIX_RANKS 16 /* with more ranks than this the greatest pairs are shown */

/* ---- the share ------------------------------------------------------------------------------- */

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

/* ---- functions and call sites ---------------------------------------------------------------- */

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

/* ---- messages -------------------------------------------------------------------------------- */

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

static enum sg_status put_one_sided(const struct sg_call_targets *targets,
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
    return calls != NULL && status == SG_OK ? put_one_sided(&calls->one_sided, options, out)
                                            : status;
}
