#include "sim/papers/claims.h"
#include "sim/lists.h"

#include <stdlib.h>

/* Paper 000 uses 10,000; from this number on the mean is within 1 %. */
#define REDUCE_ITERATIONS 4000

typedef enum sg_status (*measurement)(const struct sg_sim_options *options,
                                      const struct sg_sim_case *one,
                                      struct sg_world_result *result);

static struct sg_world_result reduce(struct sg_claim_context *context, measurement measure,
                                     const char *text, int32_t nodes, double skew_us,
                                     uint32_t elements)
{
    struct sg_sim_algo algo = sg_sim_algo_of(text);
    struct sg_sim_options options = context->options;
    struct sg_sim_case one = {
        .algo = &algo,
        .operation = SG_OPERATION_REDUCE,
        .nodes = nodes,
        .bytes = elements * SG_SIM_ELEMENT_BYTES,
        .skew_ns = sg_network_ns(skew_us),
    };
    struct sg_world_result result = {0};

    options.warmup = 1;
    options.iterations = nodes > 32 ? REDUCE_ITERATIONS / 20 : REDUCE_ITERATIONS;
    if (context->status == SG_OK)
        context->status = measure(&options, &one, &result);
    return context->status == SG_OK ? result : (struct sg_world_result){0};
}

struct sg_world_result sg_claim_reduce(struct sg_claim_context *context, const char *text,
                                       int32_t nodes, double skew_us, uint32_t elements)
{
    return reduce(context, sg_measure_cpu, text, nodes, skew_us, elements);
}

struct sg_world_result sg_claim_blocking(struct sg_claim_context *context, int32_t nodes,
                                         double skew_us, uint32_t elements)
{
    return reduce(context, sg_measure_blocking, "tree(degree=1)", nodes, skew_us, elements);
}

double sg_claim_factor(struct sg_claim_context *context, const char *algo, int32_t nodes,
                       double skew_us, uint32_t elements)
{
    double baseline_ns = sg_claim_blocking(context, nodes, skew_us, elements).cpu_ns;
    double own_ns = sg_claim_reduce(context, algo, nodes, skew_us, elements).cpu_ns;

    return own_ns > 0 ? baseline_ns / own_ns : 0;
}

double sg_claim_delay(struct sg_claim_context *context, const char *text, int32_t nodes,
                      const char *late_text, uint32_t elements)
{
    struct sg_sim_algo algo = sg_sim_algo_of(text);
    struct sg_sim_options options = context->options;
    struct sg_sim_late late[SG_LATE_MAX];
    struct sg_sim_case one = {
        .algo = &algo,
        .operation = elements > 0 ? SG_OPERATION_ALLREDUCE : SG_OPERATION_BARRIER,
        .nodes = nodes,
        .bytes = elements * SG_SIM_ELEMENT_BYTES,
        .late = late,
    };
    struct sg_world_result result = {0};
    char room[SG_OPTION_FAULT_BYTES];

    if (sg_sim_parse_late(late_text, late, &one.late_count, room) != NULL)
        abort();
    options.warmup = 16;
    options.iterations = 4;
    if (context->status == SG_OK)
        context->status = sg_measure_delay(&options, &one, &result);
    return context->status == SG_OK ? result.delay_ns : 0;
}

double sg_claim_multicast_ns(const struct sg_claim_context *context, uint32_t elements)
{
    return (double)sg_network_multicast_ns(&context->options.network,
                                           (uint64_t)elements * SG_SIM_ELEMENT_BYTES);
}
