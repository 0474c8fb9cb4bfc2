/* Synchronization delay, as paper 002 defines it in section 5.3: from the last entry into a
 * collective to the last exit from it, with ranks late by a pattern. All ranks' times are on one
 * clock, so no message is needed to compare them.
 */
#include "bench/mpi/target.h"
#include "bench/rows.h"

#include <math.h>
#include <stdlib.h>

#define LATE_PART 0.5

/* Whether the round is as asked for: the late ranks arrived last, late by at least half of what was
 * asked for. On a busy machine another rank may wake up later. */
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

static enum sg_status report(const struct sg_bench_calls *calls,
                             const struct sg_bench_sampling *sampling,
                             const struct sg_bench_samples *samples, int variant, double *delay_ns)
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
        status = report(calls, sampling, samples, i, delay_ns);
    free(delay_ns);
    return status;
}

static enum sg_status adapt(struct sg_bench_calls *calls, struct sg_bench_sampling *sampling)
{
    /* This stop rule would use the times of calls, most of which are waiting. */
    sampling->until_enough = false;
    return SG_OK;
}

enum sg_status sg_bench_delay(const struct sg_bench_job *job,
                              const struct sg_bench_case *bench_case, double late_us)
{
    static const struct sg_bench_way way = {adapt, report_all};

    return sg_bench_go(&way, job, bench_case, job->algorithms, job->algorithm_count, late_us);
}
