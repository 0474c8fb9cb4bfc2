#include "bench/collectives.h"

#include <string.h>

const struct sg_bench_collective sg_bench_collectives[SG_BENCH_COLLECTIVES] = {
    [SG_OPERATION_BARRIER] = {.name = "barrier",
                              .function = "PMPI_Barrier",
                              .routed = true,
                              .synchronises = true},
    [SG_OPERATION_REDUCE] = {.name = "reduce",
                             .function = "PMPI_Reduce",
                             .routed = true,
                             .rooted = true},
    [SG_OPERATION_ALLREDUCE] = {.name = "allreduce",
                                .function = "PMPI_Allreduce",
                                .routed = true,
                                .synchronises = true},
    [SG_OPERATION_BCAST] = {.name = "bcast",
                            .function = "PMPI_Bcast",
                            .routed = true,
                            .rooted = true},
    [SG_BENCH_GATHER] = {.name = "gather",
                         .function = "PMPI_Gather",
                         .rooted = true,
                         .receives_blocks = true},
    [SG_BENCH_SCATTER] = {.name = "scatter",
                          .function = "PMPI_Scatter",
                          .rooted = true,
                          .sends_blocks = true},
    [SG_BENCH_ALLGATHER] = {.name = "allgather",
                            .function = "PMPI_Allgather",
                            .synchronises = true,
                            .receives_blocks = true},
    [SG_BENCH_ALLTOALL] = {.name = "alltoall",
                           .function = "PMPI_Alltoall",
                           .synchronises = true,
                           .sends_blocks = true,
                           .receives_blocks = true},
    [SG_BENCH_REDUCE_SCATTER] = {.name = "reduce_scatter",
                                 .function = "PMPI_Reduce_scatter_block",
                                 .synchronises = true,
                                 .sends_blocks = true},
    [SG_BENCH_SCAN] = {.name = "scan", .function = "PMPI_Scan"}};

int sg_bench_collective_find(const char *name, size_t length)
{
    for (int i = 0; i < SG_BENCH_COLLECTIVES; i++) {
        if (strlen(sg_bench_collectives[i].name) == length &&
            memcmp(sg_bench_collectives[i].name, name, length) == 0)
            return i;
    }
    return -1;
}
