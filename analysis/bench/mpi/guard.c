#include "bench/mpi/guard.h"

#include <stdlib.h>

/* Between the two looks at the start: the counter's rate is then known to a few parts in 10^5. */
#define REFERENCE_NS UINT64_C(5000000)

static struct sg_bench_look look(const struct sg_bench_job *job)
{
    return sg_bench_look_take(&job->machine, sg_bench_counter);
}

void sg_bench_guard_open(struct sg_bench_job *job)
{
    struct sg_bench_look first, second;

    /* What all rows are compared with, whatever their number of ranks. */
    if (job->reference.loop_ns > 0)
        return;
    first = look(job);
    job->machine.sleep_until(first.clock_ns + REFERENCE_NS);
    second = look(job);
    job->reference = sg_bench_reference_of(&first, &second);
}

/* Of all ranks, on rank 0. */
static enum sg_status gather(const struct sg_bench_job *job, const struct sg_bench_speed *own,
                             struct sg_bench_speed *out)
{
    const struct sg_exchange *exchange = job->machine.exchange;
    size_t *sizes = calloc((size_t)job->size, sizeof *sizes);
    void *all = NULL;
    enum sg_status status = sizes == NULL ? SG_ERR_MEMORY : SG_OK;

    if (status == SG_OK)
        status = exchange->gather(exchange->context, own, sizeof *own, &all, sizes);
    if (status == SG_OK && job->rank == 0)
        *out = sg_bench_speed_of_all(all, job->size);
    free(all);
    free(sizes);
    return status;
}

enum sg_status sg_bench_guard(const struct sg_bench_job *job,
                              const struct sg_bench_case *bench_case, double skew_us,
                              enum sg_status (*measure)(const struct sg_bench_job *,
                                                        const struct sg_bench_case *,
                                                        double skew_us))
{
    struct sg_bench_look before = look(job), after;
    struct sg_bench_speed own, all;
    enum sg_status status;

    if (job->output != NULL)
        sg_bench_output_hold(job->output);
    status = measure(job, bench_case, skew_us);
    if (status != SG_OK)
        return status;
    after = look(job);
    own = sg_bench_speed_between(&job->reference, &before, &after);
    status = gather(job, &own, &all);
    if (status == SG_OK && job->output != NULL)
        status = sg_bench_output_release(job->output, job->size, &all);
    return status;
}
