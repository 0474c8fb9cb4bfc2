#include "bench/mpi/bench_target.h"

#include "bench/mpi/operands_filled.h"
#include "rule/rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    MPI_Barrier(variant->comm); /* the first call sets up the communicator */
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

/* Returns the case as this variant calls it; the variants share buffers. */
static struct sg_bench_case variant_case(const struct sg_bench_variant *variant,
                                         const struct sg_bench_case *bench_case)
{
    struct sg_bench_case own = *bench_case;

    own.comm = variant->comm;
    return own;
}

/* Verifies every variant. */
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

        sg_log("bench: %s of %llu bytes by %s gave a wrong result during the measurement",
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

/* ---- the group of ranks that measures */

enum { FAILED = 1 };

/* Chooses the algorithms asked for, or the command's default. Algorithms between nodes have no rows
 * if the ranks are one node. */
static void choose_algorithms(struct sg_bench_job *job)
{
    static const int compared[] = {SG_ALGORITHM_TREE, SG_ALGORITHM_DISSEMINATION,
                                   SG_ALGORITHM_PAIRWISE};
    const struct sg_bench_options *options = job->options;

    job->algorithm_count = 0;
    for (int i = 0; i < options->algorithm_count; i++) {
        int algorithm = options->algorithms[i];

        if (job->between_nodes || algorithm < 0 || algorithm == SG_ALGORITHM_MPICH)
            job->algorithms[job->algorithm_count++] = algorithm;
        else if (job->rank == 0)
            sg_log("bench: %d processes are on one node: no rows for %s", job->size,
                   sg_bench_algorithm_name(algorithm));
    }
    if (options->vs != SG_ALGORITHM_MPICH)
        job->algorithms[job->algorithm_count++] = options->vs;
    if (options->algorithm_count > 0)
        return;
    if (options->vs == SG_BENCH_RULES) {
        job->algorithms[job->algorithm_count++] = SG_ALGORITHM_MPICH;
        return;
    }
    job->algorithms[job->algorithm_count++] = SG_BENCH_RULES;
    if (options->command != SG_BENCH_DELAY || !job->between_nodes)
        return;
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++)
        job->algorithms[job->algorithm_count++] = compared[i];
}

void sg_bench_group_open(struct sg_bench_job *job)
{
    const struct sg_bench_options *options = job->options;

    PMPI_Comm_dup(job->comm, &job->quiet);
    MPI_Comm_dup(job->comm, &job->settle);
    MPI_Comm_set_name(job->settle, SG_BENCH_SETTLE_COMM_NAME);
    /* The first barrier on a communicator is MPICH's, whatever the rules choose, and sets it up. */
    MPI_Barrier(job->settle);
    /* Keeps the order of ranks, so that rank 0 is the first on its machine. */
    PMPI_Comm_split_type(job->comm, MPI_COMM_TYPE_SHARED, job->rank, MPI_INFO_NULL, &job->node);
    job->between_nodes = job->ranks_per_node > 0 && job->ranks_per_node < job->size;
    job->late_rank = options->late_is_last ? job->size - 1 : options->late_rank;
    choose_algorithms(job);
    if (sg_bench_machine_open(job->quiet, job->node, &job->machine, &job->clocks) != SG_OK)
        MPI_Abort(MPI_COMM_WORLD, FAILED);
    sg_bench_guard_open(job);
}

void sg_bench_group_close(struct sg_bench_job *job)
{
    sg_bench_machine_close(job->clocks);
    MPI_Comm_free(&job->node);
    MPI_Comm_free(&job->settle);
    MPI_Comm_free(&job->quiet);
}

bool sg_bench_group_enter(const struct sg_bench_job *world, int size, struct sg_bench_job *out)
{
    *out = *world;
    if (size == world->size)
        return true;
    MPI_Comm_split(MPI_COMM_WORLD, world->rank < size ? 0 : MPI_UNDEFINED, world->rank, &out->comm);
    if (out->comm == MPI_COMM_NULL)
        return false;
    MPI_Barrier(out->comm);
    out->size = size;
    sg_bench_group_open(out);
    return true;
}

enum sg_status sg_bench_group_leave(const struct sg_bench_job *world, struct sg_bench_job *group,
                                    enum sg_status status)
{
    int shared = (int)status;
    MPI_Request request;

    if (group != NULL && group->size < world->size) {
        sg_bench_group_close(group);
        MPI_Comm_free(&group->comm);
    }
    PMPI_Ibcast(&shared, 1, MPI_INT, 0, world->quiet, &request);
    sg_bench_complete_idly(&request);
    return (enum sg_status)shared;
}

/* ---- latency, one call at a time, by the schemes of bench/sampling.h */

/* Not const: rules from the command line need a wider column than a name. */
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

/* Reduces a variant's times, round by round. */
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

/* values: the variant's times, with capacity for twice as many after them. */
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

/* values: capacity for three times the rounds. vs: the variant that it is compared with, or -1. */
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
    /* MPICH alone is compared with nothing. */
    vs = calls->variants->count > 1 ? vs : -1;
    if (vs >= 0)
        widen("vs", strlen(sg_bench_algorithm_name(calls->variants->of[vs].algorithm)));
    for (int i = 0; i < calls->variants->count && status == SG_OK; i++) {
        /* MPICH's own is there for comparison, and has a row only if it is the one compared. */
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
