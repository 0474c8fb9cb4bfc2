/* Which cases the model of bench/model.h is for. */
#include "bench/model.h"
#include "bench/mpi/bench.h"
#include "bench/mpi/machine.h"

#include <math.h>
#include <string.h>

#define LIBRARY "libstagger"

double sg_bench_modelled_ns(const struct sg_bench_job *job, const struct sg_bench_case *bench_case,
                            int algorithm)
{
    const struct sg_bench_head *head = sg_bench_output_head(job->output);
    int sharing;

    PMPI_Comm_size(job->node, &sharing);
    if (algorithm != SG_BENCH_RULES || strncmp(head->ours, LIBRARY, strlen(LIBRARY)) != 0 ||
        job->between_nodes || sharing != job->size || sg_bench_machine_is_oversubscribed())
        return NAN;
    return sg_bench_model_ns(&head->limits, bench_case->operation, job->size, bench_case->bytes);
}
