/* A benchmark run: what is known of it everywhere, and its measurements.
 *
 * All functions are called by all ranks together. What is measured goes to the output, which rank 0
 * alone has.
 */
#ifndef SG_BENCH_MPI_BENCH_H
#define SG_BENCH_MPI_BENCH_H

#include "bench/algorithms.h"
#include "bench/host.h"
#include "bench/mpi/collective.h"
#include "bench/options.h"
#include "bench/output.h"
#include "core/clocksync.h"
#include "core/status.h"

#include <mpi.h>

struct sg_bench_job {
    const struct sg_bench_options *options;
    int rank, size;                          /* in MPI_COMM_WORLD */
    MPI_Comm node;                           /* the ranks of this machine */
    MPI_Comm quiet;                          /* all ranks; for our own words, by PMPI alone */
    MPI_Comm settle;                         /* for sg_bench_settle */
    bool between_nodes;                      /* algorithms between nodes can be had */
    int algorithms[SG_BENCH_ALGORITHMS_MAX]; /* of cpu and delay */
    int algorithm_count;
    struct sg_bench_machine machine;
    struct sg_clocksync *clocks;
    uint64_t *bounds_ns; /* of each rank's clock, at the start; NULL but on rank 0 */
    double *lateness_ns; /* of a replay, for pattern.h */
    size_t replayed_calls;
    struct sg_bench_output *output; /* NULL but on rank 0 */
};

/* The time of a call: blocks of calls of either side alternate; the time of a block is that of the
 * rank which is slowest in it. SG_ERR_FORMAT: a result is wrong, which is logged. */
enum sg_status sg_bench_latency(const struct sg_bench_job *job, struct sg_bench_case *bench_case);

/* The same, one call at a time by the options' scheme, each of the job's algorithms against what
 * they are compared with, at one skew of the pattern. Errors as above. */
enum sg_status sg_bench_single(const struct sg_bench_job *job,
                               const struct sg_bench_case *bench_case, double skew_us);

/* How much of the nonblocking form is hidden behind computation. Errors as above. */
enum sg_status sg_bench_overlap(const struct sg_bench_job *job,
                                const struct sg_bench_case *bench_case, double skew_us);

/* How well clocks are known, and what the machine does by itself. */
enum sg_status sg_bench_clock(const struct sg_bench_job *job);
enum sg_status sg_bench_noise(const struct sg_bench_job *job);

/* The processor time of a call that one rank enters late, having slept: of the root (where there is
 * one), and the most that any other rank spends. Errors as above. */
enum sg_status sg_bench_late(const struct sg_bench_job *job, struct sg_bench_case *bench_case);

/* The processor time that a call takes on average when ranks come to it as the pattern has it, by
 * each of the job's algorithms. Errors as above. */
enum sg_status sg_bench_cpu(const struct sg_bench_job *job, const struct sg_bench_case *bench_case,
                            double skew_us);

/* The time from the last entry into a call to the last exit, when ranks come as the pattern has it,
 * by each of the job's algorithms. Errors as above. */
enum sg_status sg_bench_delay(const struct sg_bench_job *job,
                              const struct sg_bench_case *bench_case, double late_us);

/* On rank 0: "environment" and "clocks" in the head of the JSON. */
void sg_bench_describe_run(const struct sg_bench_job *job);

/* Verifies one side; on rank 0 a wrong result is logged. SG_ERR_FORMAT on all ranks alike. by: who
 * gives the result, for the message; NULL: nobody in particular. */
enum sg_status sg_bench_check_side(const struct sg_bench_case *bench_case, enum sg_bench_side side,
                                   const char *by);

#endif
