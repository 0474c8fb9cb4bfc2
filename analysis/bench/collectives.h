/* The collectives that are measured: the four that the library routes, by their numbers in
 * core/operation.h, and others that are always MPICH's own, behind them.
 *
 * `bytes` of a row is what one rank gives to a reduction or broadcast, and for the others the block
 * that a rank sends to, or receives from, each rank. Free of MPI; constant, thread-safe.
 */
#ifndef SG_BENCH_COLLECTIVES_H
#define SG_BENCH_COLLECTIVES_H

#include "core/operation.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    SG_BENCH_GATHER = SG_OPERATION_COUNT,
    SG_BENCH_SCATTER,
    SG_BENCH_ALLGATHER,
    SG_BENCH_ALLTOALL,
    SG_BENCH_REDUCE_SCATTER, /* MPI_Reduce_scatter_block */
    SG_BENCH_SCAN,
    SG_BENCH_COLLECTIVES
};

/* All names, separated by commas. */
#define SG_BENCH_COLLECTIVES_LIST                                                                  \
    "barrier, allreduce, reduce, bcast, gather, scatter, allgather, alltoall, reduce_scatter, "    \
    "scan"

struct sg_bench_collective {
    const char *name;
    const char *function; /* "PMPI_Gather"; "MPI_Gather" is the same text from its second letter */
    bool routed;          /* the library has algorithms for it */
    bool rooted;
    bool synchronises; /* no rank can leave before all have come */
    /* A rank's operand, or its result, has a block for each rank. */
    bool sends_blocks, receives_blocks;
};

extern const struct sg_bench_collective sg_bench_collectives[SG_BENCH_COLLECTIVES];

/* The number of a name; -1: none. */
int sg_bench_collective_find(const char *name, size_t length);

#endif
