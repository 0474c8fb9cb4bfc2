#include "bench/rows.h"

#include "bench/collectives.h"

#include <math.h>
#include <stdio.h>

#define NAME_BYTES 96

/* ---- parts of rows -------------------------------------------------------------------------- */

static const char *join(char whole[NAME_BYTES], const char *name, const char *which)
{
    snprintf(whole, NAME_BYTES, "%s%s", name, which);
    return whole;
}

void sg_bench_record_summary(struct sg_record *record, const char *name,
                             const struct sg_bench_summary *summary)
{
    char whole[NAME_BYTES];

    sg_record_us(record, name, summary->median);
    sg_record_us(record, join(whole, name, "_low"), summary->low);
    sg_record_us(record, join(whole, name, "_high"), summary->high);
}

void sg_bench_record_ratio(struct sg_record *record, const char *name,
                           const struct sg_bench_summary *summary)
{
    char whole[NAME_BYTES];

    sg_record_number(record, name, summary->median);
    sg_record_number(record, join(whole, name, "_low"), summary->low);
    sg_record_number(record, join(whole, name, "_high"), summary->high);
}

void sg_bench_record_distribution(struct sg_record *record, const char *name,
                                  const struct sg_bench_distribution *distribution)
{
    char whole[NAME_BYTES];

    sg_bench_record_summary(record, name, &distribution->median);
    sg_record_us(record, join(whole, name, "_min"), distribution->least);
    sg_record_us(record, join(whole, name, "_mean"), distribution->mean);
    sg_record_us(record, join(whole, name, "_p95"), distribution->p95);
    sg_record_us(record, join(whole, name, "_p99"), distribution->p99);
    sg_record_us(record, join(whole, name, "_max"), distribution->most);
    sg_record_count(record, join(whole, name, "_outliers"), distribution->outliers);
    sg_record_count(record, join(whole, name, "_count"), distribution->count);
}

/* ---- latency --------------------------------------------------------------------------------- */

#define COMPARED                                                                                   \
    {"ours_us", "ours us", .width = 12, .near = true},                                             \
        {"mpich_us", "stock us", .width = 12, .near = true},                                       \
        {"ratio", "ratio", .width = 9, .near = true},                                              \
    {                                                                                              \
        SG_LINE_INTERVAL("ratio", ""), .title = "95 % interval", .width = -19, .like = "ratio"     \
    }

static const struct sg_line_column latency_columns[] = {
    {"op", "operation", .width = -14},
    {"bytes", "bytes", .width = 10, .near = true},
    COMPARED,
    {"pairs", "pairs", .width = 5, .near = true},
    {"ours_calls", "ours x stock", .width = -12, .second = "mpich_calls", .between = " x "},
    {"model_us", "model us", .width = 10, .near = true},
    {0}};

static const struct sg_line_column late_columns[] = {{"op", "operation", .width = -14},
                                                     {"bytes", "bytes", .width = 10, .near = true},
                                                     {"class", "ranks", .width = -8, .near = true},
                                                     COMPARED,
                                                     {"calls", "calls", .width = 5, .near = true},
                                                     {0}};

static struct sg_record *compared_row(int operation, uint64_t bytes,
                                      const struct sg_bench_comparison *comparison)
{
    struct sg_record *record = sg_record_new();

    sg_record_text(record, "op", sg_bench_collectives[operation].name);
    sg_record_count(record, "bytes", bytes);
    sg_record_us(record, "ours", comparison->ours.median);
    sg_record_us(record, "mpich", comparison->stock.median);
    sg_bench_record_ratio(record, "ratio", &comparison->ratio);
    sg_record_us(record, "ours_low", comparison->ours.low);
    sg_record_us(record, "ours_high", comparison->ours.high);
    sg_record_us(record, "mpich_low", comparison->stock.low);
    sg_record_us(record, "mpich_high", comparison->stock.high);
    return record;
}

struct sg_record *sg_bench_latency_row(int operation, uint64_t bytes, const char *reduction,
                                       const struct sg_bench_comparison *comparison,
                                       const struct sg_bench_plan *plan)
{
    struct sg_record *record = compared_row(operation, bytes, comparison);

    sg_record_text(record, "reduction", reduction);
    sg_record_count(record, "pairs", plan->pairs);
    sg_record_count(record, "ours_calls", isnan(comparison->ours.median) ? 0 : plan->calls[0]);
    sg_record_count(record, "mpich_calls", plan->calls[1]);
    return record;
}

struct sg_record *sg_bench_late_row(int operation, uint64_t bytes,
                                    const struct sg_bench_comparison *comparison,
                                    enum sg_bench_class class, size_t calls)
{
    static const char *const names[] = {
        [SG_BENCH_ROOT] = "root", [SG_BENCH_NON_ROOT] = "non-root", [SG_BENCH_ALL_RANKS] = "all"};
    struct sg_record *record = compared_row(operation, bytes, comparison);

    sg_record_text(record, "class", names[class]);
    sg_record_count(record, "calls", calls);
    return record;
}

/* ---- cpu ------------------------------------------------------------------------------------- */

static const struct sg_line_column cpu_columns[] = {
    {"op", "operation", .width = -14},
    {"algorithm", "algorithm", .width = -13, .near = true},
    {"elements", "elements", .width = 8, .near = true},
    {"skew_us", "skew us", .width = 9, .near = true, .decimals = SG_LINE_WHOLE},
    {"achieved_skew_us", "achieved us", .width = 12, .near = true},
    {"cpu_us", "cpu us", .width = 12, .near = true},
    {"mpich_cpu_us", "MPICH us", .width = 12, .near = true},
    {"tree_cpu_us", "tree us", .width = 12, .near = true},
    {"factor", "factor", .width = 8, .near = true, .decimals = SG_LINE_HUNDREDTHS},
    {"factor_low", "95 % of factor", .width = -16, .second = "factor_high", .between = " to ",
     .decimals = SG_LINE_HUNDREDTHS},
    {"calls", "calls", .width = -5, .near = true},
    {0}};

static double quotient(double mpich_ns, double cpu_ns)
{
    return cpu_ns > 0 ? mpich_ns / cpu_ns : NAN;
}

struct sg_record *sg_bench_cpu_row(const struct sg_bench_called *called,
                                   const struct sg_bench_summary *cpu,
                                   const struct sg_bench_summary *mpich,
                                   const struct sg_bench_summary *tree)
{
    /* Each end is that of one interval divided by the opposite end of the other: both sides are
     * noisy. NaN if the time is 0. */
    struct sg_bench_summary factor = {quotient(mpich->median, cpu->median),
                                      quotient(mpich->low, cpu->high),
                                      quotient(mpich->high, cpu->low)};
    struct sg_record *record = sg_record_new();

    sg_record_text(record, "op", sg_bench_collectives[called->operation].name);
    sg_record_text(record, "algorithm", called->algorithm);
    sg_record_text(record, "progress", called->progress);
    sg_record_count(record, "ranks", (uint64_t)called->ranks);
    sg_record_us(record, "skew", called->skew_ns);
    sg_record_count(record, "elements", called->elements);
    sg_bench_record_ratio(record, "factor", &factor);
    sg_record_count(record, "calls", called->calls);
    sg_bench_record_summary(record, "cpu", cpu);
    sg_bench_record_summary(record, "mpich_cpu", mpich);
    sg_bench_record_summary(record, "tree_cpu", tree);
    return record;
}

/* ---- delay ----------------------------------------------------------------------------------- */

static const struct sg_line_column delay_columns[] = {
    {"op", "operation", .width = -14},
    {"algorithm", "algorithm", .width = -13, .near = true},
    {"elements", "elements", .width = 8, .near = true},
    {"late_us", "late us", .width = 9, .near = true, .decimals = SG_LINE_WHOLE},
    {"achieved_skew_us", "achieved us", .width = 12, .near = true},
    {"delay_us", "delay us", .width = 12, .near = true},
    {SG_LINE_INTERVAL("delay", "_us"), .title = "95 % interval", .width = -20,
     .decimals = SG_LINE_TENTHS},
    {"calls", "calls", .width = -5, .near = true, .second = "rounds", .between = " of "},
    {0}};

struct sg_record *sg_bench_delay_row(const struct sg_bench_called *called,
                                     const struct sg_bench_summary *delay)
{
    struct sg_record *record = sg_record_new();

    sg_record_text(record, "op", sg_bench_collectives[called->operation].name);
    sg_record_text(record, "algorithm", called->algorithm);
    sg_record_count(record, "ranks", (uint64_t)called->ranks);
    sg_record_us(record, "late", called->skew_ns);
    sg_record_count(record, "elements", called->elements);
    sg_record_count(record, "calls", called->calls);
    sg_record_count(record, "rounds", called->rounds);
    sg_bench_record_summary(record, "delay", delay);
    return record;
}

const struct sg_line_column *sg_bench_row_columns(const struct sg_bench_options *options)
{
    switch (options->command) {
    case SG_BENCH_LATENCY:
        return options->late                      ? late_columns
               : options->scheme == SG_BENCH_LOOP ? latency_columns
                                                  : NULL;
    case SG_BENCH_CPU:
        return cpu_columns;
    case SG_BENCH_DELAY:
        return delay_columns;
    default:
        return NULL;
    }
}
