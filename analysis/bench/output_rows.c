/* The rows of cpu and delay: docs/bench-json.md. */
#include "bench/output_impl.h"

#include "core/operation.h"

#include <math.h>

#define FACTOR_BYTES 32

/* Names: "cpu_us", "cpu_low_us", "cpu_high_us". */
struct names {
    const char *median, *low, *high;
};

static json_t *summary_of(const struct names *names, const struct sg_bench_summary *summary)
{
    return json_pack("{s:o, s:o, s:o}", names->median, sg_bench_json_us(summary->median),
                     names->low, sg_bench_json_us(summary->low), names->high,
                     sg_bench_json_us(summary->high));
}

/* Takes both, which may be NULL. */
static json_t *joined(json_t *row, json_t *more)
{
    if (row != NULL && (more == NULL || json_object_update(row, more) != 0)) {
        json_decref(row);
        row = NULL;
    }
    json_decref(more);
    return row;
}

struct factor {
    double value, low, high;
};

static double quotient(double mpich_ns, double cpu_ns)
{
    return cpu_ns > 0 ? mpich_ns / cpu_ns : NAN;
}

/* Ends are those of the one interval by the other's opposite: both sides are noisy. NaN where
 * nothing was spent. */
static struct factor factor_of(const struct sg_bench_cpu_row *row)
{
    return (struct factor){quotient(row->mpich.median, row->cpu.median),
                           quotient(row->mpich.low, row->cpu.high),
                           quotient(row->mpich.high, row->cpu.low)};
}

/* ---- text --------------------------------------------------------------------------------------
 */

void sg_bench_print_cpu_head(const struct sg_bench_output *output)
{
    const char *progress = output->head->progress;

    fprintf(output->stream,
            "processor time of a call, average over the ranks, on the process's clock; progress: "
            "%s\n\n",
            progress != NULL ? progress : "none of ours");
    fprintf(output->stream, "%-10s %-13s %8s %9s %12s %12s %12s %12s %8s  %-16s %s\n", "operation",
            "algorithm", "elements", "skew us", "achieved us", "cpu us", "MPICH us", "tree us",
            "factor", "95 % of factor", "calls");
}

void sg_bench_print_delay_head(const struct sg_bench_output *output)
{
    const struct sg_bench_options *options = output->head->options;

    fputs("from the last entry to the last exit, ", output->stream);
    if (options->arrival == SG_BENCH_ONE_LATE)
        fprintf(output->stream, "when rank %d is late\n\n", options->late_rank);
    else
        fprintf(output->stream, "arrival pattern %s\n\n", sg_bench_arrival_name(options->arrival));
    fprintf(output->stream, "%-10s %-13s %8s %9s %12s %12s  %-20s %s\n", "operation", "algorithm",
            "elements", "late us", "achieved us", "delay us", "95 % interval", "calls");
}

static void print_known_us(FILE *stream, double ns)
{
    if (isnan(ns))
        fprintf(stream, " %12s", "-");
    else
        sg_bench_print_us(stream, ns);
}

static void print_interval(FILE *stream, const struct sg_bench_summary *summary, int width)
{
    char text[64] = "-";

    if (!isnan(summary->low))
        snprintf(text, sizeof text, "%.1f to %.1f", summary->low / SG_BENCH_NS_PER_US,
                 summary->high / SG_BENCH_NS_PER_US);
    fprintf(stream, "  %-*s", width, text);
}

static const char *factor_text(double value, char text[FACTOR_BYTES])
{
    if (isnan(value))
        return "-";
    snprintf(text, FACTOR_BYTES, "%.2f", value);
    return text;
}

static void print_cpu_row(FILE *stream, const struct sg_bench_cpu_row *row)
{
    struct factor factor = factor_of(row);
    char value[FACTOR_BYTES], low[FACTOR_BYTES], high[FACTOR_BYTES], interval[2 * FACTOR_BYTES + 8];

    fprintf(stream, "%-10s %-13s %8llu %9.0f", sg_operation_names[row->operation], row->algorithm,
            (unsigned long long)row->elements, row->skew_ns / SG_BENCH_NS_PER_US);
    print_known_us(stream, row->achieved_ns);
    sg_bench_print_us(stream, row->cpu.median);
    sg_bench_print_us(stream, row->mpich.median);
    print_known_us(stream, row->tree.median);
    snprintf(interval, sizeof interval, "%s to %s", factor_text(factor.low, low),
             factor_text(factor.high, high));
    fprintf(stream, " %8s  %-16s %zu\n", factor_text(factor.value, value), interval, row->calls);
}

/* ---- both --------------------------------------------------------------------------------------
 */

static json_t *cpu_row_of(const struct sg_bench_head *head, const struct sg_bench_cpu_row *row)
{
    static const struct names cpu = {"cpu_us", "cpu_low_us", "cpu_high_us"},
                              mpich = {"mpich_cpu_us", "mpich_cpu_low_us", "mpich_cpu_high_us"},
                              tree = {"tree_cpu_us", "tree_cpu_low_us", "tree_cpu_high_us"};
    struct factor factor = factor_of(row);
    json_t *object = json_pack(
        "{s:s, s:s, s:s?, s:i, s:f, s:I, s:o, s:o, s:o, s:I}", "op",
        sg_operation_names[row->operation], "algorithm", row->algorithm, "progress", head->progress,
        "ranks", head->ranks, "skew_us", row->skew_ns / SG_BENCH_NS_PER_US, "elements",
        (json_int_t)row->elements, "factor", sg_bench_json_number(factor.value), "factor_low",
        sg_bench_json_number(factor.low), "factor_high", sg_bench_json_number(factor.high), "calls",
        (json_int_t)row->calls);

    object = joined(object, summary_of(&cpu, &row->cpu));
    object = joined(object, summary_of(&mpich, &row->mpich));
    return joined(object, summary_of(&tree, &row->tree));
}

enum sg_status sg_bench_output_cpu_row(struct sg_bench_output *output,
                                       const struct sg_bench_cpu_row *row)
{
    enum sg_status status =
        sg_bench_append_record(json_object_get(output->root, "results"),
                               cpu_row_of(output->head, row), json_object(), row->more);

    if (status != SG_OK || !output->text)
        return status;
    print_cpu_row(output->stream, row);
    fflush(output->stream);
    return SG_OK;
}

enum sg_status sg_bench_output_delay_row(struct sg_bench_output *output,
                                         const struct sg_bench_delay_row *row)
{
    static const struct names delay = {"delay_us", "delay_low_us", "delay_high_us"};
    FILE *stream = output->stream;
    enum sg_status status = sg_bench_append_record(
        json_object_get(output->root, "results"),
        json_pack("{s:s, s:s, s:i, s:f, s:I, s:I, s:I}", "op", sg_operation_names[row->operation],
                  "algorithm", row->algorithm, "ranks", output->head->ranks, "late_us",
                  row->late_ns / SG_BENCH_NS_PER_US, "elements", (json_int_t)row->elements, "calls",
                  (json_int_t)row->calls, "rounds", (json_int_t)row->rounds),
        summary_of(&delay, &row->delay), row->more);

    if (status != SG_OK || !output->text)
        return status;
    fprintf(stream, "%-10s %-13s %8llu %9.0f", sg_operation_names[row->operation], row->algorithm,
            (unsigned long long)row->elements, row->late_ns / SG_BENCH_NS_PER_US);
    print_known_us(stream, row->achieved_ns);
    print_known_us(stream, row->delay.median);
    print_interval(stream, &row->delay, 20);
    fprintf(stream, " %zu of %zu\n", row->calls, row->rounds);
    fflush(stream);
    return SG_OK;
}
