/* This machine and this MPI, for bench/host.h: PMPI, CLOCK_MONOTONIC_RAW, and waiting as exactly as
 * possible without keeping other ranks from the processors.
 *
 * While ranks wait for each other's messages outside of measurements they use no processor: with
 * more ranks than processors they would disturb what is measured.
 */
#ifndef SG_BENCH_MPI_BENCH_MACHINE_H
#define SG_BENCH_MPI_BENCH_MACHINE_H

#include "bench/bench_options.h"
#include "bench/bench_output.h"
#include "bench/limits.h"
#include "bench/mpi/measure_calls.h"
#include "bench/sampling.h"
#include "core/clocksync.h"
#include "core/status.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Collective. quiet: all ranks, for the benchmark's own messages; node: those of this machine. What
 * the tables point to lives until sg_bench_machine_close. Errors are those of the exchange or
 * memory, and logged. */
enum sg_status sg_bench_machine_open(MPI_Comm quiet, MPI_Comm node,
                                     struct sg_bench_machine *machine,
                                     struct sg_clocksync **clocks);
/* Of two that are open, the inner one is in force, and is closed first. */
void sg_bench_machine_close(struct sg_clocksync *clocks);
/* Whether ranks of some machine share processors: then nobody waits spinning. */
bool sg_bench_machine_is_oversubscribed(void);

/* Waits without using a processor: where there are more ranks than processors, ranks that wait in a
 * barrier would take processors from what is measured.
 *
 * The clock is CLOCK_MONOTONIC, which all ranks of one machine share, and which can be slept on.
 */

uint64_t sg_bench_now_ns(void);
/* Returns at once if the time has passed. Signals do not end the sleep early. */
void sg_bench_sleep_until(uint64_t deadline_ns);
/* The same for a long time: it wakes only a hundred times a second. */
void sg_bench_complete_idly(MPI_Request *request);
/* Like a barrier. The ranks may be on any machines. */
void sg_bench_wait_quietly(MPI_Comm comm);

/* A benchmark run: what every rank knows of it, and its measurements.
 *
 * All functions are called by all ranks together. Measurements go to the output, which only rank 0
 * has.
 */

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

/* The guard of rows against processors that change their speed (bench/speed.h), on all ranks that
 * measure.
 *
 * Called by all ranks of the job together.
 */

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
