/* The collectives of MPI as a target of bench/sampling.h: blocking or in parts, with operands whose
 * results are known; and the group of ranks that measures.
 *
 * A case has variants, the sides of a comparison between algorithms. Each is a way to call the
 * collective: on a communicator of its own (bench/limits.h), or on the job's communicator by the
 * rules in force or as MPICH's own.
 *
 * All ranks call each function together.
 */
#ifndef SG_BENCH_MPI_BENCH_TARGET_H
#define SG_BENCH_MPI_BENCH_TARGET_H

#include "bench/bench_output.h"
#include "bench/limits.h"
#include "bench/mpi/bench_machine.h"
#include "bench/sampling.h"

/* The algorithms, the one they are compared with, and MPICH. */
#define SG_BENCH_VARIANTS_MAX (SG_BENCH_ALGORITHMS_MAX + 2)

struct sg_bench_variant {
    int algorithm; /* SG_ALGORITHM_MPICH: PMPI_X */
    enum sg_bench_side side;
    MPI_Comm comm;
};

struct sg_bench_variants {
    MPI_Comm comm; /* the ranks that measure; variants by the rules in force, and MPICH's, use it */
    struct sg_bench_variant of[SG_BENCH_VARIANTS_MAX];
    int count; /* the last variant is MPICH's */
};

/* Opens a variant for each algorithm that has the operation, once, and for MPICH. */
void sg_bench_variants_open(MPI_Comm comm, const int *algorithms, int count, int operation,
                            struct sg_bench_variants *out);
void sg_bench_variants_close(struct sg_bench_variants *variants);
/* Returns the index of an algorithm, or -1. */
int sg_bench_variants_find(const struct sg_bench_variants *variants, int algorithm);

struct sg_bench_calls {
    const struct sg_bench_job *job;
    const struct sg_bench_case *bench_case;
    const struct sg_bench_variants *variants;
    MPI_Request request; /* of the call under way */
    enum sg_bench_side side;
};

/* Fills in the target and the case's operands; calls must outlive the target. */
void sg_bench_target_open(struct sg_bench_calls *calls, struct sg_bench_target *out);
/* Returns the settings that the options ask for, at one skew of the pattern, for `variants`
 * variants: for sg_bench_go, and for measurements that change them. */
struct sg_bench_sampling sg_bench_sampling_of(const struct sg_bench_job *job,
                                              const struct sg_bench_case *bench_case, int variants,
                                              double skew_us);

/* A measurement of the variants of a case. */
struct sg_bench_way {
    /* Changes the settings from the options; may be NULL. */
    enum sg_status (*adapt)(struct sg_bench_calls *calls, struct sg_bench_sampling *sampling);
    /* Reports the results; on rank 0. */
    enum sg_status (*report)(const struct sg_bench_calls *calls,
                             const struct sg_bench_sampling *sampling,
                             const struct sg_bench_samples *samples);
};

/* Verifies each variant, samples them, verifies again, and reports. */
enum sg_status sg_bench_go(const struct sg_bench_way *way, const struct sg_bench_job *job,
                           const struct sg_bench_case *bench_case, const int *algorithms, int count,
                           double skew_us);
/* Samples like sg_bench_sample, and logs a wrong result. */
enum sg_status sg_bench_measure(struct sg_bench_calls *calls,
                                const struct sg_bench_sampling *sampling,
                                struct sg_bench_samples *out);
/* Describes a variant's calls for the rows of cpu and delay, on rank 0. */
struct sg_bench_called sg_bench_called_of(const struct sg_bench_calls *calls,
                                          const struct sg_bench_sampling *sampling, int variant,
                                          size_t count, size_t rounds);
/* On rank 0: adds the pattern, the achieved skew, flags, clocks and the method to a row. */
void sg_bench_record_sampling(struct sg_record *record, const struct sg_bench_sampling *sampling,
                              const struct sg_bench_samples *samples, int variant);

/* ---- the group of ranks that measures
 *
 * All ranks of MPI_COMM_WORLD, or its first ranks on communicators of their own while the others
 * sleep. All ranks of MPI_COMM_WORLD call these functions together.
 */

/* Opens communicators, machine and clocks of the job's ranks; job->comm, rank and size are given.
 * Aborts the program on failure. */
void sg_bench_group_open(struct sg_bench_job *job);
void sg_bench_group_close(struct sg_bench_job *job);
/* Makes a job of the first `size` ranks of world; close *out with sg_bench_group_leave. False on
 * the other ranks, which then call sg_bench_group_leave with NULL. */
bool sg_bench_group_enter(const struct sg_bench_job *world, int size, struct sg_bench_job *out);
/* Ends the group's measurements; other ranks wait here, asleep. All return rank 0's status. */
enum sg_status sg_bench_group_leave(const struct sg_bench_job *world, struct sg_bench_job *group,
                                    enum sg_status status);

#endif
