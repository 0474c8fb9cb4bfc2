#include "bench/output_impl.h"

#include "core/operation.h"

#include <math.h>
#include <stdlib.h>

#define JSON_VERSION 1

static const char *const class_names[] = {
    [SG_BENCH_ROOT] = "root", [SG_BENCH_NON_ROOT] = "non-root", [SG_BENCH_ALL_RANKS] = "all"};

/* ---- text ----------------------------------------------------------------------------------- */

static void print_latency_head(const struct sg_bench_output *output)
{
    const struct sg_bench_head *head = output->head;
    const struct sg_bench_limits *limits = &head->limits;
    FILE *stream = output->stream;

    fputs("limits: cache line one way ", stream);
    if (isnan(limits->line_ns))
        fputs("not known", stream);
    else
        fprintf(stream, "%.0f ns", limits->line_ns);
    fputs(", memory copy ", stream);
    if (isnan(limits->copy_gbs))
        fputs("not known\n", stream);
    else
        fprintf(stream, "%.1f GB/s\n", limits->copy_gbs);
    if (!head->options->late && head->options->scheme != SG_BENCH_LOOP)
        return;
    fputs("\n", stream);
    if (head->options->late)
        fprintf(stream, "processor time in a call that rank %d enters %.0f us late\n",
                head->options->late_rank, head->options->skews_us[0]);
    fprintf(stream, "%-10s %10s%s %12s %12s %9s  %-19s %s\n", "operation", "bytes",
            head->options->late ? " ranks   " : "", "ours us", "stock us", "ratio", "95 % interval",
            head->options->late ? "calls" : "pairs  ours x stock");
}

static void print_head(const struct sg_bench_output *output)
{
    const struct sg_bench_head *head = output->head;

    fprintf(output->stream, "%d rank%s; ours: MPI_* from %s; stock: PMPI_* from %s (%s)\n",
            head->ranks, head->ranks == 1 ? "" : "s", head->ours, head->stock, head->mpi_name);
    switch (head->options->command) {
    case SG_BENCH_LATENCY:
        print_latency_head(output);
        return;
    case SG_BENCH_CPU:
        sg_bench_print_cpu_head(output);
        return;
    case SG_BENCH_DELAY:
        sg_bench_print_delay_head(output);
        return;
    case SG_BENCH_OVERLAP:
    case SG_BENCH_CLOCK:
    case SG_BENCH_NOISE:
    case SG_BENCH_COMMANDS:
        return;
    }
}

/* Three digits or more, however wide the range. */
void sg_bench_print_us(FILE *stream, double ns)
{
    double us = ns / SG_BENCH_NS_PER_US;

    fprintf(stream, " %12.*f", us < 100 ? 3 : 1, us);
}

static void print_ratio(FILE *stream, const struct sg_bench_summary *ratio)
{
    char low[32], high[32];
    int decimals = ratio->median < 0.1 ? 5 : 3;

    snprintf(low, sizeof low, "%.*f", decimals, ratio->low);
    snprintf(high, sizeof high, "%.*f", decimals, ratio->high);
    fprintf(stream, " %9.*f  %-7s to %-8s", decimals, ratio->median, low, high);
}

static void print_comparison(FILE *stream, const struct sg_bench_comparison *comparison)
{
    sg_bench_print_us(stream, comparison->ours.median);
    sg_bench_print_us(stream, comparison->stock.median);
    print_ratio(stream, &comparison->ratio);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

json_t *sg_bench_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *sg_bench_json_us(double ns)
{
    return sg_bench_json_number(ns / SG_BENCH_NS_PER_US);
}

/* What rows of both kinds have. */
static json_t *comparison_of(enum sg_operation operation, uint64_t bytes,
                             const struct sg_bench_comparison *comparison)
{
    return json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "op",
                     sg_operation_names[operation], "bytes", (json_int_t)bytes, "ours_us",
                     sg_bench_json_us(comparison->ours.median), "mpich_us",
                     sg_bench_json_us(comparison->stock.median), "ratio",
                     sg_bench_json_number(comparison->ratio.median), "ratio_low",
                     sg_bench_json_number(comparison->ratio.low), "ratio_high",
                     sg_bench_json_number(comparison->ratio.high), "ours_low_us",
                     sg_bench_json_us(comparison->ours.low), "ours_high_us",
                     sg_bench_json_us(comparison->ours.high), "mpich_low_us",
                     sg_bench_json_us(comparison->stock.low), "mpich_high_us",
                     sg_bench_json_us(comparison->stock.high));
}

/* Takes more, which may be NULL; false when out of memory. */
static bool add(json_t *root, const char *name, json_t *more)
{
    return json_object_set_new(root, name, more) == 0;
}

static bool add_of_command(json_t *root, const struct sg_bench_head *head)
{
    const struct sg_bench_options *options = head->options;

    if (options->command == SG_BENCH_CPU)
        return add(root, "clock", json_string("process")) &&
               add(root, "root", json_integer(options->root));
    if (options->command == SG_BENCH_DELAY)
        return add(root, "late_rank", json_integer(options->late_rank));
    if (options->command != SG_BENCH_LATENCY)
        return true;
    return add(root, "limits",
               json_pack("{s:o, s:o}", "line_ns", sg_bench_json_number(head->limits.line_ns),
                         "copy_gbs", sg_bench_json_number(head->limits.copy_gbs))) &&
           (!options->late ||
            add(root, "late",
                json_pack("{s:f, s:i, s:i, s:[]}", "skew_us", options->skews_us[0], "rank",
                          options->late_rank, "root", options->root, "results")));
}

static json_t *root_of(const struct sg_bench_head *head)
{
    json_t *root = json_pack("{s:i, s:s, s:i, s:[], s:b, s:s, s:s, s:s}", "version", JSON_VERSION,
                             "command", sg_bench_command_name(head->options->command), "ranks",
                             head->ranks, "results", "intercepted", head->intercepted, "ours",
                             head->ours, "stock", head->stock, "mpi", head->mpi_name);

    if (root != NULL && !add_of_command(root, head)) {
        json_decref(root);
        return NULL;
    }
    return root;
}

/* Takes row, which may be NULL, with what more belongs into it. */
enum sg_status sg_bench_append(json_t *rows, json_t *row, json_t *more)
{
    bool good = row != NULL && more != NULL && json_object_update(row, more) == 0;

    json_decref(more);
    if (!good)
        json_decref(row);
    if (good && json_array_append_new(rows, row) == 0)
        return SG_OK;
    sg_log("bench: out of memory");
    return SG_ERR_MEMORY;
}

enum sg_status sg_bench_append_record(json_t *rows, json_t *row, json_t *more,
                                      struct sg_bench_record *record)
{
    bool failed = record != NULL && record->failed;

    if (record != NULL && more != NULL && json_object_update(more, record->object) != 0)
        failed = true;
    sg_bench_record_free(record);
    if (failed) {
        json_decref(more);
        more = NULL;
    }
    return sg_bench_append(rows, row, more);
}

/* ---- both ----------------------------------------------------------------------------------- */

enum sg_status sg_bench_output_open(const struct sg_bench_head *head, FILE *stream,
                                    struct sg_bench_output **out)
{
    struct sg_bench_output *output = calloc(1, sizeof *output);

    if (output == NULL)
        goto err_memory;
    output->head = head;
    output->stream = stream;
    output->text = head->options->format == SG_BENCH_TEXT;
    output->root = root_of(head);
    if (output->root == NULL)
        goto err_output;
    if (output->text) {
        print_head(output);
        fflush(stream);
    }
    *out = output;
    return SG_OK;

err_output:
    free(output);
err_memory:
    sg_log("bench: out of memory");
    return SG_ERR_MEMORY;
}

enum sg_status sg_bench_output_row(struct sg_bench_output *output, const struct sg_bench_row *row)
{
    FILE *stream = output->stream;
    enum sg_status status = sg_bench_append_record(
        json_object_get(output->root, "results"),
        comparison_of(row->operation, row->bytes, &row->comparison),
        json_pack("{s:I, s:I, s:I}", "pairs", (json_int_t)row->plan.pairs, "ours_calls",
                  (json_int_t)row->plan.calls[0], "mpich_calls", (json_int_t)row->plan.calls[1]),
        row->more);

    if (status != SG_OK || !output->text)
        return status;
    fprintf(stream, "%-10s %10llu", sg_operation_names[row->operation],
            (unsigned long long)row->bytes);
    print_comparison(stream, &row->comparison);
    fprintf(stream, " %5zu  %llu x %llu\n", row->plan.pairs, (unsigned long long)row->plan.calls[0],
            (unsigned long long)row->plan.calls[1]);
    fflush(stream);
    return SG_OK;
}

enum sg_status sg_bench_output_late_row(struct sg_bench_output *output,
                                        const struct sg_bench_late_row *row)
{
    FILE *stream = output->stream;
    enum sg_status status = sg_bench_append(
        json_object_get(json_object_get(output->root, "late"), "results"),
        comparison_of(row->operation, row->bytes, &row->comparison),
        json_pack("{s:s, s:I}", "class", class_names[row->class], "calls", (json_int_t)row->calls));

    if (status != SG_OK || !output->text)
        return status;
    fprintf(stream, "%-10s %10llu %-8s", sg_operation_names[row->operation],
            (unsigned long long)row->bytes, class_names[row->class]);
    print_comparison(stream, &row->comparison);
    fprintf(stream, " %5zu\n", row->calls);
    fflush(stream);
    return SG_OK;
}

enum sg_status sg_bench_output_close(struct sg_bench_output *output, bool complete)
{
    FILE *stream = output->stream;
    enum sg_status status = SG_OK;

    if (complete && output->head->options->format == SG_BENCH_JSON) {
        if (json_dumpf(output->root, stream, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) != 0)
            status = SG_ERR_SYSTEM;
        fputc('\n', stream);
    }
    if (complete && output->head->options->format == SG_BENCH_CSV)
        sg_bench_print_csv(output->root, stream);
    if (fflush(stream) != 0 || ferror(stream))
        status = SG_ERR_SYSTEM;
    if (status != SG_OK)
        sg_log("bench: the output cannot be written: %m");
    if (status == SG_OK && complete && output->head->options->plot[0] != '\0')
        status = sg_bench_plot(output->root, output->head->options->plot);
    json_decref(output->root);
    free(output);
    return status;
}
