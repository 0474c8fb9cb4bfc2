#include "bench/mpi/target.h"

#include "bench/mpi/operands.h"
#include "rule/algorithm.h"

#include <stdlib.h>

/* ---- variants */

static void add(struct sg_bench_variants *variants, int algorithm)
{
    struct sg_bench_variant *variant = &variants->of[variants->count++];
    char name[SG_BENCH_COMM_NAME_BYTES];

    variant->algorithm = algorithm;
    variant->side = algorithm == SG_ALGORITHM_MPICH ? SG_BENCH_STOCK : SG_BENCH_OURS;
    variant->comm = variants->comm;
    if (algorithm == SG_BENCH_RULES || algorithm == SG_ALGORITHM_MPICH)
        return;
    sg_bench_algorithm_comm_name(algorithm, name);
    MPI_Comm_dup(variants->comm, &variant->comm);
    MPI_Comm_set_name(variant->comm, name);
    MPI_Barrier(variant->comm); /* sets it up */
}

void sg_bench_variants_open(MPI_Comm comm, const int *algorithms, int count, int operation,
                            struct sg_bench_variants *out)
{
    out->comm = comm;
    out->count = 0;
    for (int i = 0; i < count; i++) {
        if (sg_bench_algorithm_takes(algorithms[i], operation) &&
            sg_bench_variants_find(out, algorithms[i]) < 0)
            add(out, algorithms[i]);
    }
    add(out, SG_ALGORITHM_MPICH);
}

void sg_bench_variants_close(struct sg_bench_variants *variants)
{
    for (int i = 0; i < variants->count; i++) {
        if (variants->of[i].comm != variants->comm)
            MPI_Comm_free(&variants->of[i].comm);
    }
}

int sg_bench_variants_find(const struct sg_bench_variants *variants, int algorithm)
{
    for (int i = 0; i < variants->count; i++) {
        if (variants->of[i].algorithm == algorithm)
            return i;
    }
    return -1;
}

/* The case as this variant calls it: the variants share buffers. */
static struct sg_bench_case variant_case(const struct sg_bench_variant *variant,
                                         const struct sg_bench_case *bench_case)
{
    struct sg_bench_case own = *bench_case;

    own.comm = variant->comm;
    return own;
}

/* Verifies every one. */
static enum sg_status check_variants(const struct sg_bench_variants *variants,
                                     const struct sg_bench_case *bench_case)
{
    for (int i = 0; i < variants->count; i++) {
        const struct sg_bench_variant *variant = &variants->of[i];
        struct sg_bench_case own = variant_case(variant, bench_case);
        enum sg_status status =
            sg_bench_check_side(&own, variant->side, sg_bench_algorithm_name(variant->algorithm));

        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

/* ---- the target */

static struct sg_bench_case case_of(const struct sg_bench_calls *calls, int variant)
{
    return variant_case(&calls->variants->of[variant], calls->bench_case);
}

static void prepare(void *context, int variant, uint64_t round)
{
    const struct sg_bench_calls *calls = context;

    sg_bench_fill(calls->bench_case, round);
    if (calls->job->options->cold)
        sg_bench_case_cool(calls->bench_case);
}

static bool check(void *context, int variant, uint64_t round)
{
    const struct sg_bench_calls *calls = context;

    return sg_bench_holds(calls->bench_case, round);
}

static void call(void *context, int variant)
{
    const struct sg_bench_calls *calls = context;
    struct sg_bench_case own = case_of(calls, variant);

    sg_bench_call(&own, calls->variants->of[variant].side, 1);
}

static void start(void *context, int variant)
{
    struct sg_bench_calls *calls = context;
    struct sg_bench_case own = case_of(calls, variant);

    calls->side = calls->variants->of[variant].side;
    sg_bench_start(&own, calls->side, &calls->request);
}

static bool test(void *context)
{
    struct sg_bench_calls *calls = context;

    return sg_bench_test(calls->side, &calls->request);
}

static void finish(void *context)
{
    struct sg_bench_calls *calls = context;

    sg_bench_finish(calls->side, &calls->request);
}

static void settle(void *context)
{
    const struct sg_bench_calls *calls = context;

    sg_bench_settle(calls->bench_case);
}

static void barrier(void *context)
{
    const struct sg_bench_calls *calls = context;

    PMPI_Barrier(calls->job->quiet);
}

void sg_bench_target_open(struct sg_bench_calls *calls, struct sg_bench_target *out)
{
    sg_bench_fill_whole(calls->bench_case);
    *out = (struct sg_bench_target){.prepare = prepare,
                                    .check = check,
                                    .call = call,
                                    .start = start,
                                    .test = test,
                                    .finish = finish,
                                    .settle = settle,
                                    .barrier = barrier,
                                    .context = calls};
}

struct sg_bench_sampling sg_bench_sampling_of(const struct sg_bench_job *job,
                                              const struct sg_bench_case *bench_case, int variants,
                                              double skew_us)
{
    const struct sg_bench_options *options = job->options;

    return (struct sg_bench_sampling){
        .scheme = options->scheme == SG_BENCH_LOOP ? SG_BENCH_WINDOW
                                                   : (enum sg_bench_scheme)options->scheme,
        .pattern = {.arrival = options->arrival,
                    .skew_ns = skew_us * 1e3,
                    .late_rank = job->late_rank,
                    .late_count = options->late_count,
                    .ranks = job->size,
                    .seed = options->seed,
                    .lateness_ns = job->lateness_ns,
                    .calls = job->replayed_calls},
        .variants = variants,
        .synchronises = sg_bench_collectives[bench_case->operation].synchronises,
        .rounds = options->iterations,
        .time_ns = options->row_s * 1e9,
        .until_enough = true,
        .reduction = (enum sg_bench_reduction)options->reduction,
        .root = bench_case->root,
        .seed = options->seed,
        .prepare_ns = job->cooling_ns};
}

enum sg_status sg_bench_measure(struct sg_bench_calls *calls,
                                const struct sg_bench_sampling *sampling,
                                struct sg_bench_samples *out)
{
    const struct sg_bench_job *job = calls->job;
    struct sg_bench_target target;
    enum sg_status status;

    sg_bench_target_open(calls, &target);
    status = sg_bench_sample(&job->machine, &target, job->clocks, sampling, out);
    if (status == SG_ERR_FORMAT && job->rank == 0) {
        const struct sg_bench_variant *variant = &calls->variants->of[out->wrong_variant];

        sg_log("bench: %s of %llu bytes by %s gives a wrong result while it is measured",
               sg_bench_function(calls->bench_case->operation, variant->side),
               (unsigned long long)calls->bench_case->bytes,
               sg_bench_algorithm_name(variant->algorithm));
    }
    return status;
}

enum sg_status sg_bench_go(const struct sg_bench_way *way, const struct sg_bench_job *job,
                           const struct sg_bench_case *bench_case, const int *algorithms, int count,
                           double skew_us)
{
    struct sg_bench_variants variants;
    struct sg_bench_calls calls = {.job = job, .bench_case = bench_case, .variants = &variants};
    struct sg_bench_sampling sampling;
    struct sg_bench_samples samples = {0};
    enum sg_status status;

    sg_bench_variants_open(bench_case->comm, algorithms, count, bench_case->operation, &variants);
    sampling = sg_bench_sampling_of(job, bench_case, variants.count, skew_us);
    status = check_variants(&variants, bench_case);
    if (status == SG_OK && way->adapt != NULL)
        status = way->adapt(&calls, &sampling);
    if (status == SG_OK)
        status = sg_bench_measure(&calls, &sampling, &samples);
    if (status == SG_OK)
        status = check_variants(&variants, bench_case);
    if (status == SG_OK && job->output != NULL)
        status = way->report(&calls, &sampling, &samples);
    sg_bench_samples_clear(&samples);
    sg_bench_variants_close(&variants);
    return status;
}

struct sg_bench_called sg_bench_called_of(const struct sg_bench_calls *calls,
                                          const struct sg_bench_sampling *sampling, int variant,
                                          size_t count, size_t rounds)
{
    const struct sg_bench_head *head = sg_bench_output_head(calls->job->output);

    return (struct sg_bench_called){
        .operation = calls->bench_case->operation,
        .algorithm = sg_bench_algorithm_name(calls->variants->of[variant].algorithm),
        .progress = head->progress,
        .ranks = calls->job->size,
        .skew_ns = sampling->pattern.skew_ns,
        .elements = (uint64_t)calls->bench_case->count,
        .calls = count,
        .rounds = rounds,
    };
}

void sg_bench_record_sampling(struct sg_record *record, const struct sg_bench_sampling *sampling,
                              const struct sg_bench_samples *samples, int variant)
{
    double *skew_ns = calloc(samples->rounds + 1, sizeof *skew_ns);

    sg_record_text(record, "scheme", sg_bench_scheme_names[sampling->scheme]);
    sg_record_text(record, "arrival", sg_bench_arrival_names[sampling->pattern.arrival]);
    if (skew_ns != NULL && samples->rounds > 0) {
        struct sg_bench_distribution achieved;

        for (size_t i = 0; i < samples->rounds; i++)
            skew_ns[i] = sg_bench_skew_ns(sg_bench_samples_at(samples, i, variant), samples->ranks);
        achieved = sg_bench_distribute(skew_ns, samples->rounds);
        sg_record_us(record, "achieved_skew", achieved.median.median);
        sg_record_us(record, "achieved_skew_max", achieved.most);
    }
    free(skew_ns);
    sg_record_count(record, "attempts", samples->attempts);
    sg_record_count(record, "started_late", samples->started_late);
    sg_record_count(record, "took_too_long", samples->took_too_long);
    sg_record_count(record, "kept_flagged", samples->kept_flagged);
    sg_record_flag(record, "enough", samples->enough);
    sg_record_us(record, "window", (double)samples->window_ns);
    sg_record_us(record, "clock_bound", (double)samples->clock_error_ns);
}
