/* The processor time of a collective under skew, after paper 000, section VI: each call in a window
 * of its own, which all ranks begin together.
 *
 *     late by the pattern | call | as long as the latest may take | stop
 *                         '---------------- counted --------------'
 *
 * The last part covers the work of asynchronous progress after the call has returned. The clock is
 * the process's: it includes a helper thread's time and a handler's. Late ranks sleep, so that they
 * do not compete with the ranks that wait for them; with --busy they work, as in the paper, and
 * then every rank needs a processor. The cost of clock, sleep and work is measured in windows
 * without a call, and subtracted. */
#include "bench/mpi/target.h"
#include "bench/rows.h"
#include "rule/algorithm.h"

#include <math.h>
#include <stdlib.h>

#define TRIAL_ROUNDS 3
/* The trial may have been faster than usual. */
#define CATCH_UP_TIMES 2
#define CATCH_UP_LEAST_NS 200000

/* The longest time that the last part of a call may take on a rank: the largest skew, and the
 * longest time of a call without skew on any rank. MPICH's own calls leave nothing over. */
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

/* The other variants are there for comparison; MPICH alone is what is asked for. */
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

/* The mean over the ranks in each round, without the cost of the window itself. */
static void times_of(const struct sg_bench_samples *samples, int variant, double cost_ns,
                     double *out)
{
    for (size_t i = 0; i < samples->rounds; i++)
        out[i] =
            fmax(sg_bench_processor_ns(sg_bench_samples_at(samples, i, variant), samples->ranks) -
                     cost_ns,
                 0);
}

/* Adds to the row how the variant was measured and the results, and outputs it. */
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
        sg_log("bench: cpu: no round was without a call that began late or took too long");
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
