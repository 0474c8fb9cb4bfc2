/* Makes worlds with a network of round figures, for tests of the simulator. */
#ifndef SG_TESTS_SIM_WORLD_SUPPORT_H
#define SG_TESTS_SIM_WORLD_SUPPORT_H

#include "lib/unit.h"
#include "sim/timed_queue.h"

#define L_NS 5000
#define O_NS 500
#define SIGNAL_NS 20000
#define WAKE_NS 30000
#define MULTICAST_NS 9000

static const struct sg_network round_network = {
    .name = "round",
    .latency_us = 5,
    .overhead_us = 0.5,
    .gap_ns_per_byte = 2,
    .multicast_us = 9,
    .reduce_ns_per_byte = 1,
    .signal_us = 20,
    .wake_us = 30,
};

static inline struct sg_world_setup
world_of(const struct sg_algo *algo, enum sg_operation operation, int32_t nodes, uint32_t bytes)
{
    return (struct sg_world_setup){
        .algo = algo,
        .network = &round_network,
        .endpoints = nodes,
        .ranks_per_node = 1,
        .call = {.operation = operation,
                 .flags = SG_CALL_COMMUTATIVE,
                 .bytes = bytes,
                 .root = operation == SG_OPERATION_REDUCE ? 0 : -1},
        .seed = 1,
        .iterations = 1,
    };
}

static inline struct sg_world_result run_world(const struct sg_world_setup *setup)
{
    struct sg_world_result result = {0};

    ASSERT(sg_world_run(setup, &result) == SG_OK);
    return result;
}

#endif
