/* Paper 002, section 5: adaptive barrier and allreduce on InfiniBand 4x SDR. */
#include "sim/papers/claims.h"

#include <stdio.h>

#define INFINIBAND "infiniband-sdr"
#define ELEMENTS 128

static bool ratio(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double own_ns = sg_claim_delay(context, "adaptive", 16, "deepest:2x", context->claim->elements);
    double other_ns =
        sg_claim_delay(context, context->claim->algo, 16, "deepest:2x", context->claim->elements);
    double value = own_ns > 0 ? other_ns / own_ns : 0;

    snprintf(measured, SG_CLAIM_TEXT, "%.2f (%.1f us over %.1f us)", value, other_ns * 1e-3,
             own_ns * 1e-3);
    return sg_claim_within(value, context->claim->value);
}

static bool constant(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double least = 0, most = 0;

    for (int32_t nodes = 2; nodes <= 1024; nodes *= 2) {
        double value = sg_claim_delay(context, "adaptive", nodes, "deepest:2x", 0);

        least = nodes == 2 || value < least ? value : least;
        most = value > most ? value : most;
    }
    snprintf(measured, SG_CLAIM_TEXT, "%.2f to %.2f us", least * 1e-3, most * 1e-3);
    return least > 0 && most <= least * 1.05;
}

static bool by_lateness(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double multicast_ns = sg_claim_multicast_ns(context, 0);
    double little = sg_claim_delay(context, "adaptive", 16, "deepest:1", 0);
    double some = sg_claim_delay(context, "adaptive", 16, "deepest:12", 0);
    double much = sg_claim_delay(context, "adaptive", 16, "deepest:60", 0);

    snprintf(measured, SG_CLAIM_TEXT, "%.1f, %.1f, %.1f us; %.2f multicasts", little * 1e-3,
             some * 1e-3, much * 1e-3, much / multicast_ns);
    return little >= some && some >= much && little > much && much <= 1.1 * multicast_ns;
}

static bool two_late(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT])
{
    double own_ns = sg_claim_delay(context, "adaptive", 16, "2:60,14:60", 0);
    double tree_ns = sg_claim_delay(context, "tree", 16, "2:60,14:60", 0);

    snprintf(measured, SG_CLAIM_TEXT, "%.1f us, tree %.1f us", own_ns * 1e-3, tree_ns * 1e-3);
    return own_ns >= 0.95 * tree_ns;
}

const struct sg_claim sg_claims_adaptive[] = {
    {"adaptive barrier, 16 nodes, one late: the tree's delay over its (fig. 6; fitted: "
     "multicast_us)",
     "2.28 +- 15 %", INFINIBAND, ratio, 2.28, .algo = "tree"},
    {"... dissemination's delay over its (fig. 6)", "2.28 +- 15 %", INFINIBAND, ratio, 2.28,
     .algo = "dissemination"},
    {"... its delay from 2 to 1024 nodes (fig. 6)", "constant within 5 %", INFINIBAND,
     .measure = constant},
    {"... its delay, 1, 12, 60 us late (fig. 8)", "falls to one multicast within 10 %", INFINIBAND,
     .measure = by_lateness},
    {"... two equally late, one token (fig. 10)", "no gain over the tree", INFINIBAND,
     .measure = two_late},
    {"adaptive allreduce, 128 doubles: the tree's delay over its (fig. 7)", "2.18 +- 15 %",
     INFINIBAND, ratio, 2.18, .algo = "tree", .elements = ELEMENTS},
    {"... pairwise's delay over its (fig. 7)", "2.18 +- 15 %", INFINIBAND, ratio, 2.18,
     .algo = "pairwise", .elements = ELEMENTS},
};

const int sg_claims_adaptive_count = sizeof sg_claims_adaptive / sizeof *sg_claims_adaptive;
