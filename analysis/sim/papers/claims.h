/* Claims of the papers, and further ones, against which the simulator is checked. */
#ifndef SG_SIM_PAPERS_CLAIMS_H
#define SG_SIM_PAPERS_CLAIMS_H

#include "sim/timed/measure.h"

#define SG_CLAIM_TEXT 160

struct sg_claim_context {
    struct sg_sim_options options; /* seed; the network of the present claim */
    const struct sg_claim *claim;  /* the one under way */
    enum sg_status status;         /* the first failure */
};

struct sg_claim {
    const char *what, *goal;
    const char *network;
    /* Writes what was measured; true if the goal is met. */
    bool (*measure)(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT]);
    double value; /* from the goal on: for functions that several claims share */
    const char *algo;
    int32_t nodes;
    const char *late;
    uint32_t elements;
};

extern const struct sg_claim sg_claims_bypass[], sg_claims_adaptive[], sg_claims_srm[],
    sg_claims_measuring[], sg_claims_slices[], sg_claims_coscheduling[], sg_claims_beyond[];
extern const int sg_claims_bypass_count, sg_claims_adaptive_count, sg_claims_srm_count,
    sg_claims_measuring_count, sg_claims_slices_count, sg_claims_coscheduling_count,
    sg_claims_beyond_count;

/* Prints the claims on InfiniBand whose values its inputs change, measured with other ones. */
enum sg_status sg_claims_print_inputs(struct sg_claim_context *context);

/* Prints which of paper 001's statements agree with calls that return within their slice, and which
 * with calls that return with the next one. */
enum sg_status sg_claims_print_contradiction(struct sg_claim_context *context);

/* Within 15 % of the goal. */
static inline bool sg_claim_within(double value, double goal)
{
    return value >= goal * 0.85 && value <= goal * 1.15;
}

/* Runs of claims. 0 after a failure. */
struct sg_world_result sg_claim_reduce(struct sg_claim_context *context, const char *algo,
                                       int32_t nodes, double skew_us, uint32_t elements);
/* The same of MPICH's blocking reduction. */
struct sg_world_result sg_claim_blocking(struct sg_claim_context *context, int32_t nodes,
                                         double skew_us, uint32_t elements);
/* The blocking reduction's processor use over the algorithm's. */
double sg_claim_factor(struct sg_claim_context *context, const char *algo, int32_t nodes,
                       double skew_us, uint32_t elements);
/* A barrier if elements is 0, else an allreduce; in ns. */
double sg_claim_delay(struct sg_claim_context *context, const char *algo, int32_t nodes,
                      const char *late, uint32_t elements);
double sg_claim_multicast_ns(const struct sg_claim_context *context, uint32_t elements);

#endif
