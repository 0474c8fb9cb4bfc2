/* The ranks that measure: all, or the first so many of MPI_COMM_WORLD on communicators of their
 * own, while the others sleep.
 *
 * Called by all ranks of MPI_COMM_WORLD together.
 */
#ifndef SG_BENCH_MPI_GROUP_H
#define SG_BENCH_MPI_GROUP_H

#include "bench/mpi/bench.h"

/* Opens communicators, machine and clocks of the job's ranks; job->comm, rank and size are given.
 * Ends the program if that fails. */
void sg_bench_group_open(struct sg_bench_job *job);
void sg_bench_group_close(struct sg_bench_job *job);

/* The first `size` ranks of the world's job: *out is to be closed with sg_bench_group_leave. False
 * on the other ranks, which then call sg_bench_group_leave with NULL. */
bool sg_bench_group_enter(const struct sg_bench_job *world, int size, struct sg_bench_job *out);

/* Ends the measurements of the group. Its other ranks wait here, asleep, and all learn its status,
 * which rank 0 gives. */
enum sg_status sg_bench_group_leave(const struct sg_bench_job *world, struct sg_bench_job *group,
                                    enum sg_status status);

#endif
