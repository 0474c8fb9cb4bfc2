/* Tests the formulas of the node level and of paper 003's clusters, against cases worked by hand
 * and against properties that hold for any. */
#include "lib/unit.h"
#include "sim/clusters.h"
#include "sim/network.h"

#define KIB 1024u
#define MIB (1024 * KIB)

/* Steps of 100 ns, copies of 1 ns a byte, folds of 2, L = 5 us, o = 1 us, G = 3 ns. */
static const struct sg_network network = {
    .latency_us = 5,
    .overhead_us = 1,
    .gap_ns_per_byte = 3,
    .copy_ns_per_byte = 1,
    .reduce_ns_per_byte = 2,
    .local_us = 0.1,
};

static double time_of(enum sg_cluster_library library, enum sg_operation operation, uint32_t nodes,
                      uint32_t ranks, uint64_t bytes)
{
    struct sg_cluster cluster = {&network, nodes, ranks};

    return sg_cluster_ns(&cluster, library, operation, bytes);
}

/* ---- a node */

TEST("the node level takes the steps worked out by hand")
{
    EXPECT(sg_node_store_ns(&network, 1000) == 1100);
    /* Store, see, fold three operands. */
    EXPECT(sg_node_flat_ns(&network, 4, 1000) == 1100 + 100 + 3 * 2000);
    /* Three counts; 750 bytes brought and fetched; 250 bytes folded three times. */
    EXPECT(sg_node_chunks_ns(&network, 4, 1000) == 300 + 2 * 750 + 3 * 500);
    /* Store; see and fold; reset, see, fold; reset. */
    EXPECT(sg_node_climb_ns(&network, 4, 1000) == 1000 + 2 * 2000 + 4 * 100,
           sg_node_climb_ns(&network, 1, 1000) == 0, sg_node_barrier_ns(&network, 4) == 600);
}

TEST("broadcasts in a node fill one buffer while ranks read the other")
{
    EXPECT(sg_node_broadcast_ns(&network, 4, 1000, 4096, false) == 1000 + 300 + 1000,
           sg_node_broadcast_ns(&network, 4, 1000, 4096, true) == 300 + 1000);
    /* Four chunks in, the last one out. */
    EXPECT(sg_node_broadcast_ns(&network, 4, 1000, 250, false) == 4 * (250 + 300) + 250,
           sg_node_broadcast_ns(&network, 1, 1000, 250, false) == 0,
           sg_node_broadcast_ns(&network, 4, 0, 250, false) == 300);
}

/* Steps of 100, copies of 1 a byte, folds of 2. */
TEST("a call in a node takes the time of its method")
{
    EXPECT(
        sg_node_call_ns(&network, 4, SG_OPERATION_BARRIER, 0) == 200,
        sg_node_call_ns(&network, 4, SG_OPERATION_ALLREDUCE, 1000) ==
            sg_node_flat_ns(&network, 4, 1000),
        sg_node_call_ns(&network, 4, SG_OPERATION_ALLREDUCE, 2000) == 300 + 2 * 4000 + 2000 + 100,
        sg_node_call_ns(&network, 4, SG_OPERATION_REDUCE, 8 * KIB) ==
            sg_node_chunks_ns(&network, 4, 8 * KIB),
        sg_node_call_ns(&network, 4, SG_OPERATION_BCAST, 1000) == 2 * 1100,
        sg_node_call_ns(&network, 4, SG_OPERATION_BCAST, 8 * KIB) == 200 + 8 * KIB + 100 + 4 * KIB,
        sg_node_call_ns(&network, 4, SG_OPERATION_BCAST, 64 * KIB) == 200 + 64 * KIB);
}

/* ---- clusters */

/* Two nodes of four: one put of 1000 bytes, 7000 + 3000. */
TEST("srm takes the time worked out by hand")
{
    EXPECT(time_of(SG_CLUSTER_SRM, SG_OPERATION_BCAST, 2, 4, 1000) == 10000 + 1300,
           time_of(SG_CLUSTER_SRM, SG_OPERATION_REDUCE, 2, 4, 1000) == 5400 + 10000 + 2000,
           time_of(SG_CLUSTER_SRM, SG_OPERATION_ALLREDUCE, 2, 4, 1000) ==
               5400 + 10000 + 2000 + 1300,
           time_of(SG_CLUSTER_SRM, SG_OPERATION_BARRIER, 2, 4, 0) == 600 + 7000);
    /* 12 KiB in three chunks: the adapter's 12288 ns a chunk hide the node's 4396. */
    EXPECT(time_of(SG_CLUSTER_SRM, SG_OPERATION_BCAST, 2, 4, 12 * KIB) ==
           7000 + 12288 + 4396 + 2 * 12288);
    /* 128 KiB: the address, one put, then two buffers of 64 KiB in and the last one out. */
    EXPECT(time_of(SG_CLUSTER_SRM, SG_OPERATION_BCAST, 2, 4, 128 * KIB) ==
           7000 + 7000 + 3 * 131072 + 2 * (300 + 65536) + 65536);
}

/* IBM's eager limit for 8 tasks is 4096: 1000 bytes take a copy between nodes, two inside. */
TEST("message passing takes the time worked out by hand")
{
    double between = 7000 + 3000 + 1000, inside = 2000 + 100 + 2000;

    EXPECT(time_of(SG_CLUSTER_IBM, SG_OPERATION_BCAST, 2, 4, 1000) == between + 2 * inside,
           time_of(SG_CLUSTER_IBM, SG_OPERATION_REDUCE, 2, 4, 1000) ==
               between + 2 * inside + 3 * 2000,
           time_of(SG_CLUSTER_IBM, SG_OPERATION_ALLREDUCE, 2, 4, 1000) ==
               2 * (between + 2 * inside) + 3 * 2000);
    /* Three messages of four wait for their turn. */
    EXPECT(time_of(SG_CLUSTER_IBM, SG_OPERATION_BARRIER, 2, 4, 0) == 7000 + 2 * 2100 + 3 * 1000);
    /* Over the limit: three messages, no copy between nodes. */
    EXPECT(time_of(SG_CLUSTER_IBM, SG_OPERATION_BCAST, 2, 1, 10000) == 3 * 7000 + 30000);
}

TEST("IBM's eager limits are the published ones")
{
    static const uint32_t of[][2] = {{1, 4096},  {16, 4096}, {17, 2048}, {32, 2048}, {64, 1024},
                                     {128, 512}, {256, 256}, {257, 128}, {4096, 128}};

    for (int i = 0; i < 9; i++)
        EXPECT(sg_cluster_eager_bytes(of[i][0]) == of[i][1]);
}

/* More nodes, more ranks and, within a protocol, more bytes take no less time. */
TEST("more nodes, ranks and bytes take longer")
{
    for (enum sg_cluster_library library = SG_CLUSTER_SRM; library <= SG_CLUSTER_MPICH; library++) {
        for (enum sg_operation operation = 0; operation < SG_OPERATION_COUNT; operation++) {
            for (uint64_t bytes = 8; bytes <= 8 * MIB; bytes *= 2) {
                for (uint32_t nodes = 1; nodes < 64; nodes *= 2) {
                    double time = time_of(library, operation, nodes, 16, bytes);

                    EXPECT(time > 0, time_of(library, operation, 2 * nodes, 16, bytes) > time,
                           time_of(library, operation, nodes, 32, bytes) >= time);
                }
                if (bytes > 128 * KIB)
                    EXPECT(time_of(library, operation, 8, 16, bytes) >=
                           time_of(library, operation, 8, 16, bytes / 2));
            }
        }
    }
}

TEST("another layer takes longer")
{
    for (enum sg_operation operation = 0; operation < SG_OPERATION_COUNT; operation++) {
        for (uint64_t bytes = 8; bytes <= 8 * MIB; bytes *= 2)
            EXPECT(time_of(SG_CLUSTER_MPICH, operation, 16, 16, bytes) >
                   time_of(SG_CLUSTER_IBM, operation, 16, 16, bytes));
    }
}
