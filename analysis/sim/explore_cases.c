#include "sim/explore_cases.h"

#include <string.h>

#define BYTES 8
#define EAGER_BYTES 64
#define LARGE_BYTES (4 * EAGER_BYTES)
#define BIT(operation) (1u << SG_OPERATION_##operation)
#define ALL_BITS (BIT(BARRIER) | BIT(REDUCE) | BIT(ALLREDUCE))

struct variant {
    const char *name;
    const struct sg_algo *only; /* NULL: every protocol */
    uint32_t operations;        /* 1 << enum sg_operation: those it matters to */
    uint32_t bytes, flags;
    struct sg_algo_parameters parameters;
    bool roots; /* the second instance has another root than the first */
};

static const struct variant variants[] = {
    {"in order", NULL, ALL_BITS, BYTES, 0, {0}, false},
    {"roots that change", NULL, BIT(REDUCE), BYTES, SG_CALL_COMMUTATIVE, {0}, true},
    {"... in order", NULL, BIT(REDUCE), BYTES, 0, {0}, true},
    {"arrival order",
     NULL,
     BIT(REDUCE) | BIT(ALLREDUCE),
     BYTES,
     SG_CALL_COMMUTATIVE,
     {.arrival_order = 1},
     false},
    {"split", NULL, BIT(REDUCE), BYTES, 0, {.split = 1}, false},
    {"pulled", &sg_algo_bypass, BIT(REDUCE), LARGE_BYTES, 0, {.pool = 1}, false},
    {"lingering", &sg_algo_bypass, BIT(REDUCE), BYTES, 0, {.linger_ns = 100}, true},
    {"two tokens", &sg_algo_adaptive, ALL_BITS, BYTES, 0, {.tokens = 2}, false},
    {"predicted", &sg_algo_adaptive, ALL_BITS, BYTES, 0, {.predict = 1}, false},
    {"binomial", &sg_algo_tree, BIT(REDUCE) | BIT(ALLREDUCE), BYTES, 0, {.degree = 1}, false},
};
#define VARIANTS (sizeof variants / sizeof *variants)

static void set_call(struct sg_algo_call *call, const struct variant *variant, uint32_t operation,
                     int32_t root)
{
    *call = (struct sg_algo_call){
        .operation = (enum sg_operation)operation,
        .flags = operation == SG_OPERATION_BARRIER ? 0 : variant->flags,
        .bytes = operation == SG_OPERATION_BARRIER ? 0 : variant->bytes,
        .root = operation == SG_OPERATION_REDUCE ? root : -1,
    };
}

static void set_case(const struct sg_algo *algo, int32_t nodes, const struct variant *variant,
                     uint32_t operation, struct sg_explore_scenario *scenario)
{
    memset(scenario, 0, sizeof *scenario);
    scenario->algo = algo;
    scenario->nodes = nodes;
    scenario->comms = 1;
    scenario->instances = 2;
    scenario->parameters = variant->parameters;
    scenario->parameters.credits = 2;
    scenario->parameters.window = 2;
    scenario->parameters.eager_bytes = EAGER_BYTES;
    scenario->parameters.timeout_ns = 1000;
    if (scenario->parameters.degree == 0)
        scenario->parameters.degree = 2;
    scenario->comm[0].size = nodes;
    for (int32_t rank = 0; rank < nodes; rank++)
        scenario->comm[0].process[rank] = rank;
    set_call(&scenario->instance[0].call, variant, operation, variant->roots ? nodes - 1 : 0);
    set_call(&scenario->instance[1].call, variant, operation, variant->roots ? nodes / 2 : 0);
}

bool sg_explore_case(const struct sg_algo *algo, int32_t nodes, uint32_t index,
                     struct sg_explore_scenario *scenario, const char **name)
{
    for (size_t i = 0; i < VARIANTS; i++) {
        const struct variant *variant = &variants[i];

        if (variant->only && variant->only != algo)
            continue;
        for (uint32_t operation = 0; operation < SG_OPERATION_COUNT; operation++) {
            if (!(algo->operations & variant->operations & 1u << operation) || index-- > 0)
                continue;
            set_case(algo, nodes, variant, operation, scenario);
            *name = variant->name;
            return true;
        }
    }
    return false;
}
