/* The sides of a comparison between algorithms: each a way to call the collective, on a
 * communicator of its own (bench/algorithms.h) or, by the rules in force and as MPICH's own, on
 * MPI_COMM_WORLD.
 *
 * All functions are called by all ranks together.
 */
#ifndef SG_BENCH_MPI_VARIANTS_H
#define SG_BENCH_MPI_VARIANTS_H

#include "bench/algorithms.h"
#include "bench/mpi/bench.h"

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

/* Verifies every one; as sg_bench_check. */
enum sg_status sg_bench_variants_check(const struct sg_bench_variants *variants,
                                       const struct sg_bench_case *bench_case);

/* The case as this variant has it: buffers are shared. */
struct sg_bench_case sg_bench_variant_case(const struct sg_bench_variant *variant,
                                           const struct sg_bench_case *bench_case);

#endif
