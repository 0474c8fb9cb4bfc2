/* What goes beyond the papers: one-sided handoff, two tokens, prediction, one bit pattern. */
#include "sim/lists.h"
#include "sim/papers/claims.h"

#include <stdio.h>

#define INFINIBAND "infiniband-sdr"
#define ELEMENTS 128
#define ORDERS 1000

static bool factor(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double value = sg_claim_factor(context, context->claim->algo, context->claim->nodes, 1000, 4);

    snprintf(measured, SG_CLAIM_TEXT, "%.2f", value);
    return value >= context->claim->value;
}

/* The limit of the model: the root waits for the last arriver, and each arrival at a node of the
 * shape costs the round trip of its fetch-and-add, or half of it if the cell is its own. */
static bool handoff_limit(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    const struct sg_network *network = &context->options.network;
    double far_ns = (network->overhead_us + 2 * network->latency_us) * 1e3;
    double own_ns = (network->overhead_us + network->latency_us) * 1e3;
    double baseline_ns = sg_claim_blocking(context, 32, 1000, 4).cpu_ns;
    struct sg_world_result run = sg_claim_reduce(context, "handoff", 32, 1000, 4);
    double round_trips_ns =
        (run.fetch_adds - run.own_fetch_adds) * far_ns + run.own_fetch_adds * own_ns;
    double least_ns = (run.wait_ns + round_trips_ns) / 32;
    double limit = least_ns > 0 ? baseline_ns / least_ns : 0;
    double value = run.cpu_ns > 0 ? baseline_ns / run.cpu_ns : 0;

    snprintf(measured, SG_CLAIM_TEXT, "%.2f, limit %.2f: %.0f %%", value, limit,
             limit > 0 ? 100 * value / limit : 0);
    return limit > 0 && value >= 0.9 * limit;
}

static bool multicasts(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double value = sg_claim_delay(context, context->claim->algo, context->claim->nodes,
                                  context->claim->late, 0) /
                   sg_claim_multicast_ns(context, 0);

    snprintf(measured, SG_CLAIM_TEXT, "%.3f multicasts", value);
    return value > 0 && value <= context->claim->value;
}

/* For one allreduce whose ranks arrive in random order; the hash of the results identifies the
 * association. Returns the number of different results. */
static int count_results(struct sg_claim_context *context, const char *text)
{
    struct sg_sim_algo algo = sg_sim_algo_of(text);
    struct sg_sim_options options = context->options;
    struct sg_sim_case one = {
        .algo = &algo,
        .operation = SG_OPERATION_ALLREDUCE,
        .nodes = 16,
        .bytes = ELEMENTS * 8,
        .skew_ns = sg_network_ns(100),
    };
    struct sg_world_result result = {0};
    uint64_t seen[ORDERS];
    int different = 0;

    options.data = true;
    options.iterations = 1;
    options.warmup = 0;
    for (int i = 0; i < ORDERS && context->status == SG_OK; i++) {
        int j = 0;

        options.seed = context->options.seed + (uint64_t)i;
        context->status = sg_measure_delay(&options, &one, &result);
        while (j < different && seen[j] != result.result)
            j++;
        if (j == different)
            seen[different++] = result.result;
    }
    return different;
}

static bool one_pattern(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    int fixed = count_results(context, "adaptive");
    int free = count_results(context, "adaptive(deterministic=0)");

    snprintf(measured, SG_CLAIM_TEXT, "%d result%s; %d in arrival order", fixed,
             fixed == 1 ? "" : "s", free);
    return fixed == 1 && free > 1;
}

static bool deterministic_cost(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double fixed_ns = sg_claim_delay(context, "adaptive", 16, "deepest:2x", ELEMENTS);
    double free_ns =
        sg_claim_delay(context, "adaptive(deterministic=0)", 16, "deepest:2x", ELEMENTS);
    double value = free_ns > 0 ? fixed_ns / free_ns : 0;

    snprintf(measured, SG_CLAIM_TEXT, "%.2f", value);
    return value > 0 && value <= 1.2;
}

const struct sg_claim sg_claims_beyond[] = {
    {"one-sided handoff, 32 nodes, 1000 us, 4 elements, 200 Gb/s: factor", "at least 7", "200g",
     factor, 7, .algo = "handoff", .nodes = 32},
    {"... with a split-phase root", "at least 25", "200g", factor, 25, .algo = "handoff(split=1)",
     .nodes = 32},
    {"... 1024 nodes", "at least 35", "200g", factor, 35, .algo = "handoff", .nodes = 1024},
    {"... 32 nodes on Myrinet-2000, against the model's limit", "at least 90 % of it",
     "myrinet2000", .measure = handoff_limit},
    {"adaptive(tokens=2), 16 nodes, two equally late", "at most 1.2 multicasts", INFINIBAND,
     multicasts, 1.2, .algo = "adaptive(tokens=2)", .nodes = 16, .late = "2:60,14:60"},
    {"adaptive(predict=1), 1024 nodes, one late by twice the latency", "at most 1.1 multicasts",
     INFINIBAND, multicasts, 1.1, .algo = "adaptive(predict=1)", .nodes = 1024,
     .late = "deepest:2x"},
    {"deterministic allreduce, 16 nodes, 1000 arrival orders", "1 result", INFINIBAND,
     .measure = one_pattern},
    {"... its delay over that in arrival order", "at most 1.2", INFINIBAND,
     .measure = deterministic_cost},
};

const int sg_claims_beyond_count = sizeof sg_claims_beyond / sizeof *sg_claims_beyond;
