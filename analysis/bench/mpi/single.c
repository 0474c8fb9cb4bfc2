/* Latency, one call at a time, by the schemes of bench/sampling.h. */
#include "bench/mpi/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Not const: rules given on the command line need more room than a name. */
static struct sg_line_column columns[] = {
    {"op", "operation", .width = -14},
    {"bytes", "bytes", .width = 9},
    {"algorithm", "algorithm", .width = -13},
    {"scheme", "scheme", .width = -13},
    {"reduction", "over ranks", .width = -10},
    {"achieved_skew_us", "skew us", .width = 9},
    {"time_us", "time us", .width = 10},
    {SG_LINE_INTERVAL("time", "_us"), .title = "95 % interval", .width = -22},
    {"time_p95_us", "p95 us", .width = 10},
    {"model_us", "model us", .width = 9},
    {"vs", "against", .width = -9},
    {"vs_us", "its us", .width = 10},
    {"ratio", "ratio", .width = 8},
    {SG_LINE_INTERVAL("ratio", ""), .title = "95 % interval", .width = -18},
    {"time_count", "calls", .width = 6},
    {"started_late", "late", .width = 6},
    {"took_too_long", "long", .width = 6},
    {0}};

/* A variant's time of each round. */
static void reduce_all(const struct sg_bench_samples *samples, int variant,
                       enum sg_bench_reduction reduction, int root, double *out)
{
    for (size_t i = 0; i < samples->rounds; i++)
        out[i] = sg_bench_reduced_ns(sg_bench_samples_at(samples, i, variant), samples->ranks,
                                     reduction, root);
}

static void add_reductions(struct sg_record *record, const struct sg_bench_samples *samples,
                           int variant, int root, bool keep, double *scratch)
{
    for (int way = 0; way < SG_BENCH_REDUCTIONS; way++) {
        const char *name = sg_bench_reduction_names[way];
        char samples_name[32];
        struct sg_bench_summary summary;

        reduce_all(samples, variant, (enum sg_bench_reduction)way, root, scratch);
        snprintf(samples_name, sizeof samples_name, "%s_samples_us", name);
        if (keep)
            sg_record_list(record, samples_name, scratch, samples->rounds);
        summary = sg_bench_summarize(scratch, samples->rounds);
        sg_bench_record_summary(record, name, &summary);
    }
}

/* values: the variant's own, and room for twice as many. */
static void add_comparison(struct sg_record *record, const struct sg_bench_calls *calls,
                           const struct sg_bench_sampling *sampling,
                           const struct sg_bench_samples *samples, int vs, double *values)
{
    double *other = values + samples->rounds, *scratch = other + samples->rounds;
    struct sg_bench_comparison comparison;

    reduce_all(samples, vs, sampling->reduction, sampling->root, other);
    if (calls->job->options->samples)
        sg_record_list(record, "vs_samples_us", other, samples->rounds);
    comparison = sg_bench_compare(values, other, scratch, samples->rounds);
    sg_bench_record_summary(record, "vs", &comparison.stock);
    sg_bench_record_ratio(record, "ratio", &comparison.ratio);
}

/* values: room for three times the rounds. vs: the variant that it is compared with, or -1. */
static struct sg_record *row_of(const struct sg_bench_calls *calls,
                                const struct sg_bench_sampling *sampling,
                                const struct sg_bench_samples *samples, int variant, int vs,
                                double *values)
{
    const struct sg_bench_variants *variants = calls->variants;
    struct sg_record *record = sg_record_new();
    double *own = values, *scratch = values + 2 * samples->rounds;
    bool keep = calls->job->options->samples;

    sg_record_text(record, "op", sg_bench_collectives[calls->bench_case->operation].name);
    sg_record_count(record, "bytes", calls->bench_case->bytes);
    sg_record_text(record, "algorithm", sg_bench_algorithm_name(variants->of[variant].algorithm));
    sg_record_text(record, "vs",
                   vs >= 0 ? sg_bench_algorithm_name(variants->of[vs].algorithm) : NULL);
    sg_record_text(record, "reduction", sg_bench_reduction_names[sampling->reduction]);
    sg_record_us(record, "skew", sampling->pattern.skew_ns);
    sg_record_us(
        record, "model",
        sampling->pattern.skew_ns > 0
            ? NAN
            : sg_bench_modelled_ns(calls->job, calls->bench_case, variants->of[variant].algorithm));
    sg_bench_record_sampling(record, sampling, samples, variant);
    if (samples->rounds > 0) {
        struct sg_bench_distribution time;

        add_reductions(record, samples, variant, sampling->root, keep, scratch);
        reduce_all(samples, variant, sampling->reduction, sampling->root, own);
        if (keep)
            sg_record_list(record, "samples_us", own, samples->rounds);
        if (vs >= 0)
            add_comparison(record, calls, sampling, samples, vs, values);
        time = sg_bench_distribute(own, samples->rounds);
        sg_bench_record_distribution(record, "time", &time);
    }
    return record;
}

static void widen(const char *field, size_t least)
{
    struct sg_line_column *column = columns;

    while (strcmp(column->field, field) != 0)
        column++;
    if (column->width > -(int)least)
        column->width = -(int)least;
}

static enum sg_status report(const struct sg_bench_calls *calls,
                             const struct sg_bench_sampling *sampling,
                             const struct sg_bench_samples *samples)
{
    int vs = sg_bench_variants_find(calls->variants, calls->job->options->vs);
    double *values = calloc(3 * samples->rounds + 1, sizeof *values);
    enum sg_status status = values != NULL ? SG_OK : SG_ERR_MEMORY;

    vs = vs >= 0 ? vs : calls->variants->count - 1;
    /* MPICH alone has nothing to be compared with. */
    vs = calls->variants->count > 1 ? vs : -1;
    if (vs >= 0)
        widen("vs", strlen(sg_bench_algorithm_name(calls->variants->of[vs].algorithm)));
    for (int i = 0; i < calls->variants->count && status == SG_OK; i++) {
        /* MPICH's own is there for comparison, unless it is itself compared. */
        if (i == vs)
            continue;
        status = sg_bench_output_record(calls->job->output,
                                        row_of(calls, sampling, samples, i, vs, values), columns);
    }
    free(values);
    return status;
}

enum sg_status sg_bench_single(const struct sg_bench_job *job,
                               const struct sg_bench_case *bench_case, double skew_us)
{
    static const struct sg_bench_way way = {NULL, report};

    return sg_bench_go(&way, job, bench_case, job->algorithms, job->algorithm_count, skew_us);
}
