/* A benchmark run: what every rank knows of it, and its measurements.
 *
 * All functions are called by all ranks together. Measurements go to the output, which only rank 0
 * has.
 */
#ifndef SG_BENCH_MPI_BENCH_H
#define SG_BENCH_MPI_BENCH_H

#include "bench/algorithms.h"
#include "bench/host.h"
#include "bench/mpi/collective.h"
#include "bench/options.h"
#include "bench/output.h"
#include "bench/speed.h"
#include "core/clocksync.h"
#include "core/status.h"

#include <mpi.h>

struct sg_bench_job {
    const struct sg_bench_options *options;
    MPI_Comm comm;  /* the ranks that measure: MPI_COMM_WORLD, or its first so many */
    int rank, size; /* in it */
    MPI_Comm node;  /* those of this machine */
    /* all ranks; for the benchmark's own messages, with PMPI only */
    MPI_Comm quiet;
    MPI_Comm settle;    /* for sg_bench_settle */
    int ranks_per_node; /* 0: all of a machine, or no library of ours */
    int late_rank;
    bool between_nodes;                      /* algorithms between nodes are available */
    int algorithms[SG_BENCH_ALGORITHMS_MAX]; /* of cpu and delay */
    int algorithm_count;
    struct sg_bench_machine machine;
    struct sg_clocksync *clocks;
    struct sg_bench_reference reference; /* the speed of this rank's processor */
    double cooling_ns;                   /* how long it takes to empty the caches */
    uint64_t *bounds_ns; /* of each rank's clock, at the start; NULL except on rank 0 */
    double *lateness_ns; /* for a replay, see pattern.h */
    size_t replayed_calls;
    struct sg_bench_output *output; /* NULL but on rank 0 */
};

/* On rank 0: what the model says of the case with this algorithm (bench/algorithms.h), in ns; NaN
 * where it says nothing: not on one machine with a processor for each rank, or not by the library's
 * own choice. */
double sg_bench_modelled_ns(const struct sg_bench_job *job, const struct sg_bench_case *bench_case,
                            int algorithm);

/* The time of a call: blocks of calls of both sides alternate; the time of a block is that of its
 * slowest rank, or what --reduce makes of the ranks'. skew_us is not used. SG_ERR_FORMAT: a result
 * is wrong, which is logged. */
enum sg_status sg_bench_latency(const struct sg_bench_job *job,
                                const struct sg_bench_case *bench_case, double skew_us);

/* The same, one call at a time by the options' scheme, for each of the job's algorithms and the one
 * it is compared with, at one skew of the pattern. Errors as above. */
enum sg_status sg_bench_single(const struct sg_bench_job *job,
                               const struct sg_bench_case *bench_case, double skew_us);

/* How much of the nonblocking form overlaps with computation. Errors as above. */
enum sg_status sg_bench_overlap(const struct sg_bench_job *job,
                                const struct sg_bench_case *bench_case, double skew_us);

/* The accuracy of the clocks, and what the machine does by itself. */
enum sg_status sg_bench_clock(const struct sg_bench_job *job);
enum sg_status sg_bench_noise(const struct sg_bench_job *job);

/* Where the time of small calls goes. Whether that can be told, on rank 0; if not, a line says why.
 */
bool sg_bench_can_account(const struct sg_bench_job *job);
enum sg_status sg_bench_account(const struct sg_bench_job *job);

/* The processor time of a call that one rank enters late, after sleeping: of the root (if there is
 * one), and the most of any other rank. The lateness is the options', not skew_us. Errors as above.
 */
enum sg_status sg_bench_late(const struct sg_bench_job *job, const struct sg_bench_case *bench_case,
                             double skew_us);

/* The mean processor time of a call if ranks arrive by the pattern, for each of the job's
 * algorithms. Errors as above. */
enum sg_status sg_bench_cpu(const struct sg_bench_job *job, const struct sg_bench_case *bench_case,
                            double skew_us);

/* The time from the last entry into a call to the last exit if ranks arrive by the pattern, for
 * each of the job's algorithms. Errors as above. */
enum sg_status sg_bench_delay(const struct sg_bench_job *job,
                              const struct sg_bench_case *bench_case, double late_us);

/* On rank 0: "environment" and "clocks" in the head of the JSON output. */
void sg_bench_describe_run(const struct sg_bench_job *job);

/* Verifies one side; a wrong result is logged on rank 0. SG_ERR_FORMAT on all ranks alike. by: the
 * algorithm, for the message; NULL: none in particular. */
enum sg_status sg_bench_check_side(const struct sg_bench_case *bench_case, enum sg_bench_side side,
                                   const char *by);

#endif
