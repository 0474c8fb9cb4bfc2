/* Measurements of collectives under load, one command each: cpu (processor time under skew), delay
 * (synchronization delay), noise (interruptions of the machine) and overlap (of a nonblocking
 * collective with computation). They share the sampling of bench_target.h, except noise. All ranks
 * of the job call each function together; rank 0 reports. */
#include "bench/bench_output.h"
#include "bench/distribution.h"
#include "bench/mpi/bench_machine.h"
#include "bench/mpi/bench_target.h"
#include "bench/overlapping.h"
#include "rule/rule.h"

#include <math.h>
#include <stdlib.h>

/* ---- cpu: processor time of a collective under skew, after paper 000, section VI
 *
 * Each call has a window of its own, which all ranks begin together.
 *
 *     late by the pattern | call | as long as the latest may take | stop
 *                         '---------------- counted --------------'
 *
 * The last part covers the work of asynchronous progress after the call has returned. The clock is
 * the process's: it includes a helper thread's time and a handler's. Late ranks sleep, so that they
 * do not compete with the ranks that wait for them; with --busy they work, as in the paper, and
 * then every rank needs a processor. The cost of clock, sleep and work is measured in windows
 * without a call, and subtracted.
 */

#define TRIAL_ROUNDS 3
/* Margin, because the trial may have been faster than usual. */
#define CATCH_UP_TIMES 2
#define CATCH_UP_LEAST_NS 200000

/* Estimates how long the last part of a call may take on a rank, from the longest time of a call
 * without skew on any rank; adapt adds the largest skew. MPICH's own calls leave nothing over. */
static enum sg_status measure_catch_up(struct sg_bench_calls *calls, double *catch_up_ns)
{
    const struct sg_bench_job *job = calls->job;
    struct sg_bench_sampling sampling =
        sg_bench_sampling_of(job, calls->bench_case, calls->variants->count, 0);
    struct sg_bench_samples samples;
    enum sg_status status;
    double longest_ns = 0;

    sampling.pattern.arrival = SG_BENCH_TOGETHER;
    sampling.rounds = TRIAL_ROUNDS;
    status = sg_bench_measure(calls, &sampling, &samples);
    for (size_t i = 0; status == SG_OK && i < samples.rounds; i++) {
        for (int variant = 0; variant < calls->variants->count - 1; variant++)
            longest_ns =
                fmax(longest_ns, sg_bench_reduced_ns(sg_bench_samples_at(&samples, i, variant),
                                                     samples.ranks, SG_BENCH_REDUCE_SPAN, 0));
    }
    sg_bench_samples_clear(&samples);
    *catch_up_ns = CATCH_UP_LEAST_NS + CATCH_UP_TIMES * longest_ns;
    PMPI_Bcast(catch_up_ns, 1, MPI_DOUBLE, 0, job->quiet);
    return status;
}

/* Other variants are there for comparison only; MPICH alone is the one asked for. */
static bool is_asked(const struct sg_bench_job *job, const struct sg_bench_variants *variants,
                     int algorithm)
{
    if (variants->count == 1)
        return true;
    for (int i = 0; i < job->algorithm_count; i++) {
        if (job->algorithms[i] == algorithm)
            return true;
    }
    return false;
}

/* Computes the mean over the ranks in each round, without the cost of the window itself. */
static void times_of(const struct sg_bench_samples *samples, int variant, double cost_ns,
                     double *out)
{
    for (size_t i = 0; i < samples->rounds; i++)
        out[i] =
            fmax(sg_bench_processor_ns(sg_bench_samples_at(samples, i, variant), samples->ranks) -
                     cost_ns,
                 0);
}

/* Adds the method and the results of a variant to the row, and outputs it. */
static enum sg_status report_one(const struct sg_bench_calls *calls,
                                 const struct sg_bench_sampling *sampling,
                                 const struct sg_bench_samples *samples, int variant,
                                 struct sg_record *row, double cost_ns, double *scratch)
{
    const struct sg_bench_options *options = calls->job->options;
    struct sg_bench_distribution distribution;

    sg_bench_record_sampling(row, sampling, samples, variant);
    sg_record_text(row, "skewed_by", sampling->lateness == SG_BENCH_BUSY ? "work" : "sleep");
    sg_record_us(row, "catch_up", sampling->catch_up_ns);
    times_of(samples, variant, cost_ns, scratch);
    if (options->samples)
        sg_record_list(row, "samples_us", scratch, samples->rounds);
    distribution = sg_bench_distribute(scratch, samples->rounds);
    sg_bench_record_distribution(row, "cpu", &distribution);
    if (options->samples) {
        times_of(samples, calls->variants->count - 1, cost_ns, scratch);
        sg_record_list(row, "vs_samples_us", scratch, samples->rounds);
    }
    return sg_bench_output_record(calls->job->output, row, sg_bench_row_columns(options));
}

static enum sg_status report(const struct sg_bench_calls *calls,
                             const struct sg_bench_sampling *sampling,
                             const struct sg_bench_samples *samples)
{
    static const struct sg_bench_summary none = {NAN, NAN, NAN};
    const struct sg_bench_variants *variants = calls->variants;
    struct sg_bench_summary summaries[SG_BENCH_VARIANTS_MAX] = {{0}};
    double *scratch = calloc(samples->rounds + 1, sizeof *scratch), cost_ns;
    int tree = sg_bench_variants_find(variants, SG_ALGORITHM_TREE);
    enum sg_status status = scratch != NULL ? SG_OK : SG_ERR_MEMORY;

    if (status == SG_OK && samples->rounds == 0) {
        sg_log("bench: cpu: every round had a call that began late or took too long");
        status = SG_ERR_SYSTEM;
    }
    if (status == SG_OK) {
        times_of(samples, variants->count, 0, scratch);
        cost_ns = sg_bench_summarize(scratch, samples->rounds).median;
    }
    for (int i = 0; i < variants->count && status == SG_OK; i++) {
        times_of(samples, i, cost_ns, scratch);
        summaries[i] = sg_bench_summarize(scratch, samples->rounds);
    }
    for (int i = 0; i < variants->count && status == SG_OK; i++) {
        struct sg_bench_called called =
            sg_bench_called_of(calls, sampling, i, samples->rounds, samples->rounds);

        if (is_asked(calls->job, variants, variants->of[i].algorithm))
            status =
                report_one(calls, sampling, samples, i,
                           sg_bench_cpu_row(&called, &summaries[i], &summaries[variants->count - 1],
                                            tree >= 0 ? &summaries[tree] : &none),
                           cost_ns, scratch);
    }
    free(scratch);
    return status;
}

static enum sg_status adapt(struct sg_bench_calls *calls, struct sg_bench_sampling *sampling)
{
    enum sg_status status;

    sampling->processor = sampling->with_nothing = true;
    sampling->until_enough = false;
    sampling->lateness = calls->job->options->busy ? SG_BENCH_BUSY : SG_BENCH_WAITING;
    status = measure_catch_up(calls, &sampling->catch_up_ns);
    sampling->catch_up_ns += sg_bench_lateness_most_ns(&sampling->pattern);
    return status;
}

enum sg_status sg_bench_cpu(const struct sg_bench_job *job, const struct sg_bench_case *bench_case,
                            double skew_us)
{
    static const struct sg_bench_way way = {adapt, report};
    int algorithms[SG_BENCH_ALGORITHMS_MAX + 1], count = job->algorithm_count;

    for (int i = 0; i < count; i++)
        algorithms[i] = job->algorithms[i];
    if (job->between_nodes)
        algorithms[count++] = SG_ALGORITHM_TREE;
    return sg_bench_go(&way, job, bench_case, algorithms, count, skew_us);
}

/* ---- delay: synchronization delay, as paper 002 defines it in section 5.3
 *
 * This is the time from the last entry into a collective to the last exit from it, with ranks late
 * by a pattern. All ranks' times are on one clock, so no message is needed to compare them.
 */

#define LATE_PART 0.5

/* Returns true if the round is as asked for: the late ranks arrived last, late by at least half of
 * the skew. On a busy machine another rank may wake up later. */
static bool is_as_asked(const struct sg_bench_pattern *pattern, uint64_t number,
                        const struct sg_bench_times *times)
{
    uint64_t others_ns = 0, late_ns = UINT64_MAX;

    if (pattern->skew_ns <= 0 ||
        (pattern->arrival != SG_BENCH_ONE_LATE && pattern->arrival != SG_BENCH_SOME_LATE))
        return true;
    for (int rank = 0; rank < pattern->ranks; rank++) {
        uint64_t entry_ns = times[rank].entry_ns;

        if (sg_bench_is_to_be_late(pattern, number, rank))
            late_ns = entry_ns < late_ns ? entry_ns : late_ns;
        else
            others_ns = entry_ns > others_ns ? entry_ns : others_ns;
    }
    return (double)(int64_t)(late_ns - others_ns) >= pattern->skew_ns * LATE_PART;
}

static enum sg_status delay_report(const struct sg_bench_calls *calls,
                                   const struct sg_bench_sampling *sampling,
                                   const struct sg_bench_samples *samples, int variant,
                                   double *delay_ns)
{
    const struct sg_bench_options *options = calls->job->options;
    struct sg_bench_distribution delay = {.median = {NAN, NAN, NAN}};
    struct sg_bench_called called;
    struct sg_record *row;
    size_t count = 0;

    for (size_t i = 0; i < samples->rounds; i++) {
        const struct sg_bench_times *times = sg_bench_samples_at(samples, i, variant);

        if (is_as_asked(&sampling->pattern, samples->numbers[i], times))
            delay_ns[count++] = sg_bench_delay_ns(times, samples->ranks);
    }
    called = sg_bench_called_of(calls, sampling, variant, count, samples->rounds);
    row = sg_bench_delay_row(&called, &delay.median);
    sg_bench_record_sampling(row, sampling, samples, variant);
    if (count > 0) {
        if (options->samples)
            sg_record_list(row, "samples_us", delay_ns, count);
        delay = sg_bench_distribute(delay_ns, count);
        sg_bench_record_distribution(row, "delay", &delay);
    }
    return sg_bench_output_record(calls->job->output, row, sg_bench_row_columns(options));
}

static enum sg_status report_all(const struct sg_bench_calls *calls,
                                 const struct sg_bench_sampling *sampling,
                                 const struct sg_bench_samples *samples)
{
    double *delay_ns = calloc(samples->rounds + 1, sizeof *delay_ns);
    enum sg_status status = delay_ns != NULL ? SG_OK : SG_ERR_MEMORY;

    for (int i = 0; i < calls->variants->count && status == SG_OK; i++)
        status = delay_report(calls, sampling, samples, i, delay_ns);
    free(delay_ns);
    return status;
}

static enum sg_status delay_adapt(struct sg_bench_calls *calls, struct sg_bench_sampling *sampling)
{
    /* The stop rule uses the times of calls, which are mostly waiting here. */
    sampling->until_enough = false;
    return SG_OK;
}

enum sg_status sg_bench_delay(const struct sg_bench_job *job,
                              const struct sg_bench_case *bench_case, double late_us)
{
    static const struct sg_bench_way way = {delay_adapt, report_all};

    return sg_bench_go(&way, job, bench_case, job->algorithms, job->algorithm_count, late_us);
}

/* ---- noise of the machine
 *
 * Ranks run fixed quanta of work, one after the other, all at once. The quanta would all take the
 * same time if nothing interrupted them, so each rank's times show the interruptions.
 */

#define QUANTA_MAX 100000
#define LEAST_QUANTA 10

static const struct sg_line_column columns[] = {
    {"rank", "rank", .width = 5},
    {"quantum_us", "quantum us", .width = 11},
    {SG_LINE_INTERVAL("quantum", "_us"), .title = "95 % interval", .width = -22},
    {"quantum_min_us", "min us", .width = 11},
    {"quantum_mean_us", "mean us", .width = 11},
    {"quantum_p99_us", "p99 us", .width = 11},
    {"quantum_max_us", "max us", .width = 11},
    {"lost", "lost", .width = 8},
    {"quantum_outliers", "outliers", .width = 8},
    {"quantum_count", "quanta", .width = 7},
    {0}};

static void measure(const struct sg_bench_machine *machine, uint64_t work, double *ns, size_t count)
{
    uint64_t before_ns = machine->now_ns(), after_ns;

    for (size_t i = 0; i < count; i++) {
        machine->work(work);
        after_ns = machine->now_ns();
        ns[i] = (double)(after_ns - before_ns);
        before_ns = after_ns;
    }
}

static enum sg_status noise_report(const struct sg_bench_job *job, int rank, double *ns,
                                   size_t count)
{
    struct sg_record *record = sg_record_new();
    struct sg_bench_distribution found;

    sg_record_count(record, "rank", (uint64_t)rank);
    if (job->options->samples)
        sg_record_list(record, "samples_us", ns, count);
    found = sg_bench_distribute(ns, count);
    sg_bench_record_distribution(record, "quantum", &found);
    /* The share of the time beyond that of undisturbed quanta. */
    sg_record_number(record, "lost", 1 - found.least / found.mean);
    return sg_bench_output_record(job->output, record, columns);
}

enum sg_status sg_bench_noise(const struct sg_bench_job *job)
{
    const struct sg_bench_machine *machine = &job->machine;
    double quantum_ns = job->options->quantum_us * 1e3;
    double wanted = job->options->row_s * 1e9 / quantum_ns;
    size_t count = wanted < LEAST_QUANTA ? LEAST_QUANTA
                   : wanted > QUANTA_MAX ? QUANTA_MAX
                                         : (size_t)wanted;
    size_t *sizes = calloc((size_t)job->size, sizeof *sizes);
    double *own = calloc(count, sizeof *own), *all = NULL;
    enum sg_status status = own != NULL && sizes != NULL ? SG_OK : SG_ERR_MEMORY;

    if (status == SG_OK) {
        PMPI_Barrier(job->quiet);
        measure(machine, (uint64_t)(quantum_ns / machine->quantum_ns) + 1, own, count);
        status = machine->exchange->gather(machine->exchange->context, own, count * sizeof *own,
                                           (void **)&all, sizes);
    }
    for (int rank = 0; rank < job->size && status == SG_OK && job->output != NULL; rank++)
        status = noise_report(job, rank, all + (size_t)rank * count, count);
    free(all);
    free(own);
    free(sizes);
    return status;
}

/* ---- overlap: bench/overlapping.h on MPI's nonblocking collectives
 *
 * There is a row for each interval of tests. The row without tests shows asynchronous progress,
 * because nothing else can hide time there.
 */

static const struct sg_line_column overlap_columns[] = {
    {"op", "operation", .width = -14},
    {"bytes", "bytes", .width = 9},
    {"algorithm", "algorithm", .width = -13},
    {"test_bytes", "test B", .width = 8},
    {"tests", "tests", .width = 6},
    {"alone_us", "alone us", .width = 10},
    {"overhead_us", "overhead us", .width = 11},
    {"wait_us", "wait us", .width = 10},
    {"overlap", "paper time", .width = 10},
    {SG_LINE_INTERVAL("overlap", ""), .title = "95 % interval", .width = -16},
    {"overlap_work", "paper work", .width = 10},
    {"overlap_osu", "OSU", .width = 7},
    {"overlap_imb", "IMB", .width = 7},
    {"rounds", "rounds", .width = 6},
    {0}};

static enum sg_status overlap_report(const struct sg_bench_calls *calls, int variant,
                                     uint64_t test_bytes, uint64_t tests,
                                     const struct sg_bench_sampling *sampling,
                                     const struct sg_bench_samples *samples,
                                     const struct sg_bench_overlap *found)
{
    struct sg_record *record = sg_record_new();

    sg_record_text(record, "op", sg_bench_collectives[calls->bench_case->operation].name);
    sg_record_count(record, "bytes", calls->bench_case->bytes);
    sg_record_text(record, "algorithm",
                   sg_bench_algorithm_name(calls->variants->of[variant].algorithm));
    sg_record_count(record, "test_bytes", test_bytes);
    sg_record_count(record, "tests", tests);
    sg_record_text(record, "reduction", sg_bench_reduction_names[sampling->reduction]);
    sg_record_us(record, "skew", sampling->pattern.skew_ns);
    sg_record_count(record, "rounds", found->rounds);
    sg_bench_record_sampling(record, sampling, samples, 0);
    if (found->rounds > 0) {
        sg_bench_record_summary(record, "alone", &found->alone);
        sg_bench_record_summary(record, "timed", &found->timed);
        sg_bench_record_summary(record, "worked", &found->worked);
        sg_bench_record_summary(record, "computed", &found->computed);
        sg_bench_record_summary(record, "overhead", &found->overhead);
        sg_bench_record_summary(record, "wait", &found->waited);
        sg_bench_record_ratio(record, "overlap", &found->paper_time);
        sg_bench_record_ratio(record, "overlap_work", &found->paper_work);
        sg_bench_record_ratio(record, "overlap_osu", &found->osu);
        sg_bench_record_ratio(record, "overlap_imb", &found->imb);
        if (tests == 0)
            sg_bench_record_ratio(record, "asynchronous_progress", &found->paper_time);
    }
    return sg_bench_output_record(calls->job->output, record, overlap_columns);
}

static enum sg_status overlap_measure(struct sg_bench_calls *calls, int variant, double skew_us,
                                      uint64_t test_bytes)
{
    const struct sg_bench_job *job = calls->job;
    struct sg_bench_sampling sampling = sg_bench_sampling_of(job, calls->bench_case, 1, skew_us);
    uint64_t tests = sg_bench_overlap_tests(calls->bench_case->bytes, test_bytes);
    struct sg_bench_samples samples = {0};
    struct sg_bench_overlap found;
    struct sg_bench_target target;
    enum sg_status status;

    sg_bench_target_open(calls, &target);
    status = sg_bench_overlap_measure(&job->machine, &target, variant, job->clocks, &sampling,
                                      tests, &found, &samples);
    if (status == SG_ERR_FORMAT && job->rank == 0)
        sg_log("bench: the nonblocking form of %s of %llu bytes by %s gave a wrong result",
               sg_bench_collectives[calls->bench_case->operation].name,
               (unsigned long long)calls->bench_case->bytes,
               sg_bench_algorithm_name(calls->variants->of[variant].algorithm));
    if (status == SG_OK && job->output != NULL)
        status = overlap_report(calls, variant, test_bytes, tests, &sampling, &samples, &found);
    sg_bench_samples_clear(&samples);
    return status;
}

enum sg_status sg_bench_overlap(const struct sg_bench_job *job,
                                const struct sg_bench_case *bench_case, double skew_us)
{
    const struct sg_bench_options *options = job->options;
    struct sg_bench_variants variants;
    struct sg_bench_calls calls = {.job = job, .bench_case = bench_case, .variants = &variants};
    enum sg_status status = SG_OK;

    sg_bench_variants_open(bench_case->comm, job->algorithms, job->algorithm_count,
                           bench_case->operation, &variants);
    for (int i = 0; i < variants.count && status == SG_OK; i++) {
        for (int j = 0; j < options->test_bytes.count && status == SG_OK; j++)
            status = overlap_measure(&calls, i, skew_us, options->test_bytes.list[j]);
    }
    sg_bench_variants_close(&variants);
    return status;
}
