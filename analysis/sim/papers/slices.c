/* Paper 001, BCS-MPI: what blocking collectives cost in slices of time. */
#include "sim/lists.h"
#include "sim/papers/claims.h"

#include <math.h>
#include <stdio.h>

#define NODES 32
#define SLICE_US 250
#define WORK_US 1900
#define BARRIERS 10000
#define RANDOM_CALLS 4000
#define RANDOM_SLICES 100

static double slices_of(double ns)
{
    return ns * 1e-3 / SLICE_US;
}

/* The paper's protocol runs on the network card: it takes no time of the nodes' processors, and
 * interrupts none. */
static struct sg_network on_the_card(const struct sg_claim_context *context)
{
    struct sg_network network = context->options.network;

    network.overhead_us = network.signal_us = network.wake_us = network.local_us = 0;
    return network;
}

/* Slices from one barrier to the next, of nodes that compute for the same time between them
 * (section 5.3). */
static bool period(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    struct sg_sim_algo algo = sg_sim_algo_of(context->claim->algo);
    struct sg_network network = on_the_card(context);
    struct sg_lateness work = {0, NODES - 1, sg_network_ns(WORK_US)};
    struct sg_world_setup setup = {
        .algo = algo.algo,
        .parameters = algo.parameters,
        .network = &network,
        .mode = SG_SIM_SIGNAL,
        .endpoints = NODES,
        .ranks_per_node = 1,
        .call = {.operation = SG_OPERATION_BARRIER, .root = -1},
        .seed = context->options.seed,
        .iterations = BARRIERS,
        .late = &work,
        .late_count = 1,
        .free_running = true,
    };
    struct sg_world_result result = {0};
    double value;

    context->status = sg_world_run(&setup, &result);
    value = slices_of(result.period_ns);
    snprintf(measured, SG_CLAIM_TEXT, "%.3f slices", value);
    return fabs(value - context->claim->value) <= 0.01 * context->claim->value;
}

/* What a barrier takes whose last process calls at any time of a slice (section 3.1). */
static bool random_call(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    struct sg_sim_algo algo = sg_sim_algo_of(context->claim->algo);
    struct sg_sim_options options = context->options;
    struct sg_sim_case one = {
        .algo = &algo,
        .operation = SG_OPERATION_BARRIER,
        .nodes = NODES,
        .skew_ns = sg_network_ns(RANDOM_SLICES * SLICE_US),
    };
    struct sg_world_result result = {0};
    double value;

    options.network = on_the_card(context);
    options.iterations = RANDOM_CALLS;
    context->status = sg_measure_delay(&options, &one, &result);
    value = slices_of(result.delay_ns);
    snprintf(measured, SG_CLAIM_TEXT, "%.3f slices", value);
    return fabs(value - context->claim->value) <= 0.02 * context->claim->value;
}

#define IN_SLICES "bcs(slice=250,restart=slice,strobe=always,microphases=separate)"
#define IN_PHASES "bcs(slice=250,strobe=always,microphases=separate)"

/* The paper says that calls return with a slice; some of its figures need them to return within
 * one (docs/papers.md). */
const struct sg_claim sg_claims_slices[] = {
    {"a barrier after each 1.9 ms, slices of 250 us, 32 nodes: from one to the next (5.3)",
     "9 +- 1 %", "qsnet", period, 9, .algo = IN_SLICES},
    {"... where calls return within their slice: one less", "8 +- 1 %", "qsnet", period, 8,
     .algo = IN_PHASES},
    {"a blocking call at any time of a slice takes (3.1)", "1.5 +- 2 %", "qsnet", random_call, 1.5,
     .algo = IN_SLICES},
};
const int sg_claims_slices_count = sizeof sg_claims_slices / sizeof *sg_claims_slices;
