/* Paper 000, section VI: application-bypass reduction on Myrinet-2000. */
#include "sim/papers/claims.h"

#include <stdio.h>

#define MYRINET "myrinet2000"

static bool factor(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double value = sg_claim_factor(context, "bypass", 32, 1000, 4);

    snprintf(measured, SG_CLAIM_TEXT, "%.2f", value);
    return sg_claim_within(value, 5.1);
}

static bool factor_by_nodes(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    bool grows = true;
    double before = 0;
    int used = 0;

    for (int32_t nodes = 2; nodes <= 32; nodes *= 2) {
        double value = sg_claim_factor(context, "bypass", nodes, 1000, 4);

        used += snprintf(measured + used, (size_t)(SG_CLAIM_TEXT - used), "%s%.2f",
                         used > 0 ? ", " : "", value);
        grows &= value > before;
        before = value;
    }
    return grows;
}

static bool factor_by_elements(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double few = sg_claim_factor(context, "bypass", 32, 1000, 4);
    double some = sg_claim_factor(context, "bypass", 32, 1000, 32);
    double many = sg_claim_factor(context, "bypass", 32, 1000, 128);

    snprintf(measured, SG_CLAIM_TEXT, "%.2f, %.2f, %.2f", few, some, many);
    return few > some && some > many;
}

static bool no_skew(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double value = sg_claim_factor(context, "bypass", 32, 0, 128);

    snprintf(measured, SG_CLAIM_TEXT, "%.2f", value);
    return value > 1 && value <= 1.5 * 1.15;
}

static bool no_skew_by_nodes(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double four = sg_claim_factor(context, "bypass", 4, 0, 128);
    double many = sg_claim_factor(context, "bypass", 32, 0, 128);

    snprintf(measured, SG_CLAIM_TEXT, "%.2f, %.2f", four, many);
    return many > four;
}

/* How much later than the blocking reduction bypass is, in us. */
static double penalty_us(struct sg_claim_context *context, int32_t nodes, uint32_t elements)
{
    double bypass_ns = sg_claim_reduce(context, "bypass", nodes, 0, elements).latency_ns;
    double blocking_ns = sg_claim_blocking(context, nodes, 0, elements).latency_ns;

    return (bypass_ns - blocking_ns) * 1e-3;
}

static bool latency_penalty(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double two = penalty_us(context, 2, 1);
    double many = penalty_us(context, 32, 1);

    snprintf(measured, SG_CLAIM_TEXT, "%.1f us, %.1f us", two, many);
    return two < 1 && many > 1;
}

/* Nodes of one kind have less noise; how much less is not known. */
static bool second_cluster(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double noise_us = context->options.network.noise_us, most = 0, four = 0;
    int used = 0;

    for (int32_t nodes = 2; nodes <= 16; nodes *= 2) {
        double half, none;

        context->options.network.noise_us = noise_us / 2;
        half = penalty_us(context, nodes, 1);
        context->options.network.noise_us = 0;
        none = penalty_us(context, nodes, 1);
        used += snprintf(measured + used, (size_t)(SG_CLAIM_TEXT - used), "%s%.1f (%.1f)",
                         used > 0 ? ", " : "", half, none);
        four = nodes == 4 ? half : four;
        most = half;
    }
    snprintf(measured + used, (size_t)(SG_CLAIM_TEXT - used), " us");
    return most > four;
}

static bool latency_by_elements(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double one = penalty_us(context, 32, 1);
    double many = penalty_us(context, 32, 128);

    snprintf(measured, SG_CLAIM_TEXT, "%.1f us, %.1f us", one, many);
    return one > 0 && many > 0 && many < 2 * one && one < 2 * many;
}

const struct sg_claim sg_claims_bypass[] = {
    {"bypass, processor use: factor at 32 nodes, 1000 us, 4 elements (fig. 6b; fitted: signal_us)",
     "5.1 +- 15 %", MYRINET, .measure = factor},
    {"... at 2, 4, 8, 16, 32 nodes (fig. 7b)", "grows with nodes", MYRINET,
     .measure = factor_by_nodes},
    {"... with 4, 32, 128 elements (fig. 6b)", "falls with elements", MYRINET,
     .measure = factor_by_elements},
    {"... without skew, 32 nodes, 128 elements (fig. 8b; fitted: noise_us)", "above 1, towards 1.5",
     MYRINET, .measure = no_skew},
    {"... without skew, 4 and 32 nodes, 128 elements (fig. 8b)", "grows with nodes", MYRINET,
     .measure = no_skew_by_nodes},
    {"latency that signals cost without skew, 1 element, 2 and 32 nodes (fig. 9)",
     "none, then some", MYRINET, .measure = latency_penalty},
    {"... 2, 4, 8, 16 nodes of one kind (fig. 9b; assumed: half the noise; in brackets: none)",
     "least up to 4, then more", MYRINET, .measure = second_cluster},
    {"... 32 nodes, 1 and 128 elements (fig. 10)", "alike within 2", MYRINET,
     .measure = latency_by_elements},
};

const int sg_claims_bypass_count = sizeof sg_claims_bypass / sizeof *sg_claims_bypass;
