/* What a run's output says of where it ran. On rank 0. */
#ifndef SG_BENCH_MPI_DESCRIBE_H
#define SG_BENCH_MPI_DESCRIBE_H

#include "bench/mpi/bench.h"

/* "environment" and "clock" in the head of the JSON. */
void sg_bench_describe_run(const struct sg_bench_job *job);

#endif
