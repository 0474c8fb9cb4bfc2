/* The machine and MPI for struct sg_bench_machine (bench/sampling.h), and the job that measures on
 * them. The machine uses PMPI and CLOCK_MONOTONIC_RAW, and waits as exactly as possible without
 * keeping other ranks from the processors.
 *
 * While ranks wait for each other's messages outside of measurements they use no processor: with
 * more ranks than processors they would disturb what is measured. The job has the ranks'
 * communicators and the measurements of each command, with a guard of their rows against processors
 * that change their speed.
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

/* Collective. quiet: all ranks, for the benchmark's own messages; node: the ranks of this machine.
 * The tables' pointers are valid until sg_bench_machine_close. Errors are those of the exchange or
 * memory (logged). */
enum sg_status sg_bench_machine_open(MPI_Comm quiet, MPI_Comm node,
                                     struct sg_bench_machine *machine,
                                     struct sg_clocksync **clocks);
/* Nested opens close in reverse order; the innermost is in force. */
void sg_bench_machine_close(struct sg_clocksync *clocks);
/* Returns true if ranks of some machine share processors: then nobody spins. */
bool sg_bench_machine_is_oversubscribed(void);

/* ---- waiting without using a processor
 *
 * With more ranks than processors, ranks that wait in a barrier would take processors from what is
 * measured. The clock is CLOCK_MONOTONIC, which all ranks of one machine share, and which can be
 * slept on.
 */

uint64_t sg_bench_now_ns(void);
/* Returns at once if the time has passed. Signals do not end the sleep early. */
void sg_bench_sleep_until(uint64_t deadline_ns);
/* Completes a request after a long time: polls only a hundred times a second. */
void sg_bench_complete_idly(MPI_Request *request);
/* Waits like a barrier. The ranks may be on any machines. */
void sg_bench_wait_quietly(MPI_Comm comm);

/* ---- a benchmark run: each rank's knowledge of it, and its measurements
 *
 * All ranks of the job call each function together. Measurements go to the output, which only rank
 * 0 has.
 */

struct sg_bench_job {
    const struct sg_bench_options *options;
    MPI_Comm comm;  /* the ranks that measure: MPI_COMM_WORLD, or its first ranks */
    int rank, size; /* in comm */
    MPI_Comm node;  /* the ranks of comm on this machine */
    /* The ranks of comm, for the benchmark's own messages, by PMPI only. */
    MPI_Comm quiet;
    MPI_Comm settle;    /* for sg_bench_settle */
    int ranks_per_node; /* 0: all of a machine, or the library is not preloaded */
    int late_rank;
    bool between_nodes;                      /* algorithms between nodes are available */
    int algorithms[SG_BENCH_ALGORITHMS_MAX]; /* of cpu and delay */
    int algorithm_count;
    struct sg_bench_machine machine;
    struct sg_clocksync *clocks;
    struct sg_bench_reference reference; /* the speed of this rank's processor */
    double cooling_ns;                   /* time to empty the caches, with a margin */
    uint64_t *bounds_ns; /* by rank: error bound of its clock at the start; NULL except on rank 0 */
    double *lateness_ns; /* for a replay (bench/pattern.h) */
    size_t replayed_calls;
    struct sg_bench_output *output; /* NULL except on rank 0 */
};

/* On rank 0: returns the model's time of the case with this algorithm (bench/limits.h), in ns. NaN
 * unless the library chooses the algorithm, on one machine with a processor for each rank. */
double sg_bench_modelled_ns(const struct sg_bench_job *job, const struct sg_bench_case *bench_case,
                            int algorithm);
/* The time of a call: blocks of calls of both sides alternate. The time of a block is that of its
 * slowest rank, or the reduction that --reduce names. Ignores skew_us. SG_ERR_FORMAT: a result is
 * wrong (logged). */
enum sg_status sg_bench_latency(const struct sg_bench_job *job,
                                const struct sg_bench_case *bench_case, double skew_us);
/* The time of a call, one call at a time by the options' scheme, for each of the job's algorithms
 * and the one they are compared with, at one skew of the pattern. Errors as above. */
enum sg_status sg_bench_single(const struct sg_bench_job *job,
                               const struct sg_bench_case *bench_case, double skew_us);
/* Measures the overlap of the nonblocking form with computation. Errors as above. */
enum sg_status sg_bench_overlap(const struct sg_bench_job *job,
                                const struct sg_bench_case *bench_case, double skew_us);
/* Measure the accuracy of the clocks, and the machine's own noise. */
enum sg_status sg_bench_clock(const struct sg_bench_job *job);
enum sg_status sg_bench_noise(const struct sg_bench_job *job);
/* Measures where the time of small calls goes. can_account, on rank 0: false, with a line that says
 * why, if that cannot be measured. */
bool sg_bench_can_account(const struct sg_bench_job *job);
enum sg_status sg_bench_account(const struct sg_bench_job *job);
/* The processor time of a call that one rank enters late, after sleeping: of the root (if there is
 * one), and the most of any other rank. The lateness is that of the options; ignores skew_us.
 * Errors as above. */
enum sg_status sg_bench_late(const struct sg_bench_job *job, const struct sg_bench_case *bench_case,
                             double skew_us);
/* The mean processor time of a call when ranks arrive by the pattern, for each of the job's
 * algorithms. Errors as above. */
enum sg_status sg_bench_cpu(const struct sg_bench_job *job, const struct sg_bench_case *bench_case,
                            double skew_us);
/* The time from the last entry into a call to the last exit when ranks arrive by the pattern, for
 * each of the job's algorithms. Errors as above. */
enum sg_status sg_bench_delay(const struct sg_bench_job *job,
                              const struct sg_bench_case *bench_case, double late_us);
/* On rank 0: adds "environment" and "clocks" to the head of the JSON output. */
void sg_bench_describe_run(const struct sg_bench_job *job);
/* Verifies one side; a wrong result is logged on rank 0. SG_ERR_FORMAT on all ranks alike. by: the
 * algorithm, for the message; NULL: none in particular. */
enum sg_status sg_bench_check_side(const struct sg_bench_case *bench_case, enum sg_bench_side side,
                                   const char *by);

/* ---- guard of rows against processors that change their speed (bench/bench_output.h)
 *
 * All ranks of the job call it together.
 */

/* Measures the reference speed of rows, once at the start of the run. */
void sg_bench_guard_open(struct sg_bench_job *job);
/* Calls measure; adds the processors' speed to the rows that it outputs, with a mark if it changed.
 * Errors are those of measure, or of the exchange. */
enum sg_status sg_bench_guard(const struct sg_bench_job *job,
                              const struct sg_bench_case *bench_case, double skew_us,
                              enum sg_status (*measure)(const struct sg_bench_job *,
                                                        const struct sg_bench_case *,
                                                        double skew_us));

#endif
