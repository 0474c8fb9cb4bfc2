/* All cases of a run: each operation at each size, by each number of processes that the options ask
 * for.
 *
 * Called by all ranks of MPI_COMM_WORLD together.
 */
#ifndef SG_BENCH_MPI_CASES_H
#define SG_BENCH_MPI_CASES_H

#include "bench/mpi/bench.h"
#include "output/progress.h"

/* SG_ERR_FORMAT: a result was wrong (logged); the same on all ranks. progress: on rank 0. */
enum sg_status sg_bench_run_cases(const struct sg_bench_job *world,
                                  struct sg_progress_line *progress);

#endif
