/* The guard of rows against processors that change their speed (bench/speed.h), on all ranks that
 * measure.
 *
 * Called by all ranks of the job together.
 */
#ifndef SG_BENCH_MPI_GUARD_H
#define SG_BENCH_MPI_GUARD_H

#include "bench/mpi/bench.h"

/* Once, at the start of the run: the speed that rows are compared with. */
void sg_bench_guard_open(struct sg_bench_job *job);

/* Calls measure; the rows that it outputs get the processors' speed, and a mark if that changed.
 * Errors are those of measure, or of the exchange. */
enum sg_status sg_bench_guard(const struct sg_bench_job *job,
                              const struct sg_bench_case *bench_case, double skew_us,
                              enum sg_status (*measure)(const struct sg_bench_job *,
                                                        const struct sg_bench_case *,
                                                        double skew_us));

#endif
