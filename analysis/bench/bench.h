/* A benchmark run: what is known of it everywhere, and its two measurements.
 *
 * All functions are called by all ranks together. What is measured goes to the output, which rank 0
 * alone has.
 */
#ifndef SG_BENCH_BENCH_H
#define SG_BENCH_BENCH_H

#include "bench/collective.h"
#include "bench/options.h"
#include "bench/output.h"
#include "core/status.h"

#include <mpi.h>

struct sg_bench_job {
    const struct sg_bench_options *options;
    int rank, size;                 /* in MPI_COMM_WORLD */
    MPI_Comm node;                  /* the ranks of this machine */
    struct sg_bench_output *output; /* NULL but on rank 0 */
};

/* The time of a call: blocks of calls of either side alternate; the time of a block is that of the
 * rank which is slowest in it. SG_ERR_FORMAT: a result is wrong, which is logged. */
enum sg_status sg_bench_latency(const struct sg_bench_job *job, struct sg_bench_case *bench_case);

/* The processor time of a call that one rank enters late, having slept: of the root (where there is
 * one), and the most that any other rank spends. Errors as above. */
enum sg_status sg_bench_late(const struct sg_bench_job *job, struct sg_bench_case *bench_case);

/* Whether another pair is to be measured: not when more than limit_ns have passed since begin_ns.
 * The same on all ranks. */
bool sg_bench_go_on(const struct sg_bench_case *bench_case, uint64_t begin_ns, double limit_ns);

/* Verifies both sides; on rank 0 a wrong result is logged. SG_ERR_FORMAT on all ranks alike. */
enum sg_status sg_bench_check(const struct sg_bench_case *bench_case);

#endif
