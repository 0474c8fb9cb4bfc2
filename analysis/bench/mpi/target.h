/* The collectives of MPI as bench/host.h wants what is measured: blocking or in parts, with
 * operands of which the results are known.
 *
 * A case has variants, the sides of a comparison between algorithms: each a way to call the
 * collective, on a communicator of its own (bench/algorithms.h) or, by the rules in force and as
 * MPICH's own, on MPI_COMM_WORLD.
 *
 * All functions are called by all ranks together.
 */
#ifndef SG_BENCH_MPI_TARGET_H
#define SG_BENCH_MPI_TARGET_H

#include "bench/algorithms.h"
#include "bench/host.h"
#include "bench/mpi/bench.h"
#include "bench/rows.h"
#include "bench/sampling.h"

/* The algorithms, one to compare them with, and MPICH's. */
#define SG_BENCH_VARIANTS_MAX (SG_BENCH_ALGORITHMS_MAX + 2)

struct sg_bench_variant {
    int algorithm; /* SG_ALGORITHM_MPICH: PMPI_X */
    enum sg_bench_side side;
    MPI_Comm comm;
};

struct sg_bench_variants {
    struct sg_bench_variant of[SG_BENCH_VARIANTS_MAX];
    int count; /* MPICH's is the last */
};

/* Those of the count algorithms that take the operation, each once, and MPICH's. */
void sg_bench_variants_open(const int *algorithms, int count, enum sg_operation operation,
                            struct sg_bench_variants *out);
void sg_bench_variants_close(struct sg_bench_variants *variants);

/* The place of an algorithm, or -1. */
int sg_bench_variants_find(const struct sg_bench_variants *variants, int algorithm);

struct sg_bench_calls {
    const struct sg_bench_job *job;
    const struct sg_bench_case *bench_case;
    const struct sg_bench_variants *variants;
    MPI_Request request; /* of what was started */
    enum sg_bench_side side;
};

/* calls outlives the target. Fills the case's operands. */
void sg_bench_target_open(struct sg_bench_calls *calls, struct sg_bench_target *out);

/* What the options ask for, at one skew of the pattern, of so many variants. For sg_bench_go, and
 * measurements that differ from it. */
struct sg_bench_sampling sg_bench_sampling_of(const struct sg_bench_job *job,
                                              const struct sg_bench_case *bench_case, int variants,
                                              double skew_us);

/* One measurement of the variants of a case. */
struct sg_bench_way {
    /* Adds to what the options ask for; may be NULL. */
    enum sg_status (*adapt)(struct sg_bench_calls *calls, struct sg_bench_sampling *sampling);
    /* On rank 0. */
    enum sg_status (*report)(const struct sg_bench_calls *calls,
                             const struct sg_bench_sampling *sampling,
                             const struct sg_bench_samples *samples);
};

/* Verifies each variant that the algorithms make, samples them, verifies again, and reports. */
enum sg_status sg_bench_go(const struct sg_bench_way *way, const struct sg_bench_job *job,
                           const struct sg_bench_case *bench_case, const int *algorithms, int count,
                           double skew_us);

/* Samples, and logs what was wrong; as sg_bench_sample. */
enum sg_status sg_bench_measure(struct sg_bench_calls *calls,
                                const struct sg_bench_sampling *sampling,
                                struct sg_bench_samples *out);

/* What the rows of cpu and delay say of a variant's calls, on rank 0. */
struct sg_bench_called sg_bench_called_of(const struct sg_bench_calls *calls,
                                          const struct sg_bench_sampling *sampling, int variant,
                                          size_t count, size_t rounds);

/* On rank 0, into a row: pattern and achieved skew, flags, clocks, how it was measured. */
void sg_bench_record_sampling(struct sg_record *record, const struct sg_bench_sampling *sampling,
                              const struct sg_bench_samples *samples, int variant);

#endif
