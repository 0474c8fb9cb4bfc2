/* The collectives of MPI as bench/host.h needs them: blocking or in parts, with operands whose
 * results are known.
 *
 * A case has variants, the sides of a comparison between algorithms. Each is a way to call the
 * collective, on a communicator of its own (bench/algorithms.h), or on the job's by the rules
 * in force or as MPICH's own.
 *
 * All functions are called by all ranks together.
 */
#ifndef SG_BENCH_MPI_BENCH_TARGET_H
#define SG_BENCH_MPI_BENCH_TARGET_H

#include "bench/bench_output.h"
#include "bench/limits.h"
#include "bench/mpi/bench_machine.h"
#include "bench/sampling.h"

/* The algorithms, the one they are compared with, and MPICH's. */
#define SG_BENCH_VARIANTS_MAX (SG_BENCH_ALGORITHMS_MAX + 2)

struct sg_bench_variant {
    int algorithm; /* SG_ALGORITHM_MPICH: PMPI_X */
    enum sg_bench_side side;
    MPI_Comm comm;
};

struct sg_bench_variants {
    MPI_Comm comm; /* of the ranks that measure; by rules in force, and MPICH's, are on it */
    struct sg_bench_variant of[SG_BENCH_VARIANTS_MAX];
    int count; /* MPICH's is the last */
};

/* Those of the count algorithms that have the operation, each once, and MPICH's. */
void sg_bench_variants_open(MPI_Comm comm, const int *algorithms, int count, int operation,
                            struct sg_bench_variants *out);
void sg_bench_variants_close(struct sg_bench_variants *variants);
/* The index of an algorithm, or -1. */
int sg_bench_variants_find(const struct sg_bench_variants *variants, int algorithm);

struct sg_bench_calls {
    const struct sg_bench_job *job;
    const struct sg_bench_case *bench_case;
    const struct sg_bench_variants *variants;
    MPI_Request request; /* of what was started */
    enum sg_bench_side side;
};

/* calls must outlive the target. Fills in the case's operands. */
void sg_bench_target_open(struct sg_bench_calls *calls, struct sg_bench_target *out);
/* The settings that the options ask for, at one skew of the pattern, for so many variants: for
 * sg_bench_go, and for measurements that change them. */
struct sg_bench_sampling sg_bench_sampling_of(const struct sg_bench_job *job,
                                              const struct sg_bench_case *bench_case, int variants,
                                              double skew_us);

/* One measurement of the variants of a case. */
struct sg_bench_way {
    /* Changes the settings that the options ask for; may be NULL. */
    enum sg_status (*adapt)(struct sg_bench_calls *calls, struct sg_bench_sampling *sampling);
    /* On rank 0. */
    enum sg_status (*report)(const struct sg_bench_calls *calls,
                             const struct sg_bench_sampling *sampling,
                             const struct sg_bench_samples *samples);
};

/* Verifies each variant that an algorithm makes, samples them, verifies again, and reports. */
enum sg_status sg_bench_go(const struct sg_bench_way *way, const struct sg_bench_job *job,
                           const struct sg_bench_case *bench_case, const int *algorithms, int count,
                           double skew_us);
/* Samples, and logs what was wrong; like sg_bench_sample. */
enum sg_status sg_bench_measure(struct sg_bench_calls *calls,
                                const struct sg_bench_sampling *sampling,
                                struct sg_bench_samples *out);
/* What the rows of cpu and delay say about a variant's calls, on rank 0. */
struct sg_bench_called sg_bench_called_of(const struct sg_bench_calls *calls,
                                          const struct sg_bench_sampling *sampling, int variant,
                                          size_t count, size_t rounds);
/* On rank 0, adds to a row: pattern and achieved skew, flags, clocks, how it was measured. */
void sg_bench_record_sampling(struct sg_record *record, const struct sg_bench_sampling *sampling,
                              const struct sg_bench_samples *samples, int variant);

/* The ranks that measure: all, or the first so many of MPI_COMM_WORLD on communicators of their
 * own, while the others sleep.
 *
 * Called by all ranks of MPI_COMM_WORLD together.
 */

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
