#include "bench/mpi/variants.h"

#include "rule/algorithm.h"

static void add(struct sg_bench_variants *variants, int algorithm)
{
    struct sg_bench_variant *variant = &variants->of[variants->count++];
    char name[SG_BENCH_COMM_NAME_BYTES];

    variant->algorithm = algorithm;
    variant->side = algorithm == SG_ALGORITHM_MPICH ? SG_BENCH_STOCK : SG_BENCH_OURS;
    variant->comm = MPI_COMM_WORLD;
    if (algorithm == SG_BENCH_RULES || algorithm == SG_ALGORITHM_MPICH)
        return;
    sg_bench_algorithm_comm_name(algorithm, name);
    MPI_Comm_dup(MPI_COMM_WORLD, &variant->comm);
    MPI_Comm_set_name(variant->comm, name);
}

void sg_bench_variants_open(const int *algorithms, int count, enum sg_operation operation,
                            struct sg_bench_variants *out)
{
    out->count = 0;
    for (int i = 0; i < count; i++) {
        if (sg_bench_algorithm_takes(algorithms[i], operation) &&
            sg_bench_variants_find(out, algorithms[i]) < 0)
            add(out, algorithms[i]);
    }
    add(out, SG_ALGORITHM_MPICH);
}

void sg_bench_variants_close(struct sg_bench_variants *variants)
{
    for (int i = 0; i < variants->count; i++) {
        if (variants->of[i].comm != MPI_COMM_WORLD)
            MPI_Comm_free(&variants->of[i].comm);
    }
}

int sg_bench_variants_find(const struct sg_bench_variants *variants, int algorithm)
{
    for (int i = 0; i < variants->count; i++) {
        if (variants->of[i].algorithm == algorithm)
            return i;
    }
    return -1;
}

enum sg_status sg_bench_variants_check(const struct sg_bench_variants *variants,
                                       const struct sg_bench_case *bench_case)
{
    for (int i = 0; i < variants->count; i++) {
        const struct sg_bench_variant *variant = &variants->of[i];
        struct sg_bench_case own = sg_bench_variant_case(variant, bench_case);
        enum sg_status status =
            sg_bench_check_side(&own, variant->side, sg_bench_algorithm_name(variant->algorithm));

        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

struct sg_bench_case sg_bench_variant_case(const struct sg_bench_variant *variant,
                                           const struct sg_bench_case *bench_case)
{
    struct sg_bench_case own = *bench_case;

    own.comm = variant->comm;
    return own;
}
