/* Claims of the papers, and further ones, against which the simulator is checked; and the model of
 * clock synchronisation that some of them measure. Each claim is a row of a table with its goal and
 * the function that measures it. `stagger sim papers` prints them all.
 */
#ifndef SG_PAPERS_CLAIMS_H
#define SG_PAPERS_CLAIMS_H

#include "sim/network.h"
#include "sim/timed_measure.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_CLAIM_TEXT 160

struct sg_claim_context {
    struct sg_sim_options options; /* seed, and the network of the current claim */
    const struct sg_claim *claim;  /* the current claim */
    enum sg_status status;         /* the first failure */
};

struct sg_claim {
    const char *what, *goal;
    const char *network;
    /* Writes the measured value; returns true if it meets the goal. */
    bool (*measure)(struct sg_claim_context *context, char measured[SG_CLAIM_TEXT]);
    double value; /* parameters, for functions that several claims share */
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

/* Repeats the claims on InfiniBand with other inputs, and prints those whose values change. */
enum sg_status sg_claims_print_inputs(struct sg_claim_context *context);
/* Prints which of paper 001's statements agree with calls that return within their slice, and which
 * with calls that return with the next one. */
enum sg_status sg_claims_print_contradiction(struct sg_claim_context *context);

/* Within 15 % of the goal. */
static inline bool sg_claim_within(double value, double goal)
{
    return value >= goal * 0.85 && value <= goal * 1.15;
}

/* Clock synchronisation of pairs and groups (paper 004, sections 2.2 and 3), in virtual time.
 *
 * A pair is measured by the code of libstagger.so (core/clocksync.h), with round trips drawn from a
 * distribution. The paper gives its distribution only as a histogram; here it is log-normal about
 * the network's 2 (L + 2o), with an assumed spread. The number of exchanges that a pair takes does
 * not depend on the distribution: only the order of the round trips counts.
 */

#define SG_PAIR_TRIPS 50000 /* the paper's number of round trips */
#define SG_PAIR_BINS 200    /* of its histogram */
#define SG_PAIR_SPREAD 0.05 /* assumed */

struct sg_round_trips {
    double middle_ns; /* the median */
    double spread;    /* standard deviation of the logarithm */
    uint64_t seed;
};

/* With SG_PAIR_SPREAD. */
struct sg_round_trips sg_round_trips_of(const struct sg_network *network, uint64_t seed);
/* counts[i]: number of the SG_PAIR_TRIPS round trips in the i-th of SG_PAIR_BINS equal bins between
 * the least and the most. */
void sg_round_trips_histogram(const struct sg_round_trips *trips, uint32_t *counts,
                              double *least_ns, double *most_ns);

struct sg_pair_result {
    uint32_t exchanges;
    double least_ns; /* the shortest round trip */
    double time_ns;  /* of all exchanges */
};

/* Measures one pair; patience as for sg_clock_pair_ask. */
struct sg_pair_result sg_pair_measure(const struct sg_round_trips *trips, uint64_t who,
                                      uint32_t patience);
/* Figure 6: means over many pairs whose round trips are drawn from a list of SG_PAIR_TRIPS. *error:
 * the mean of the minima found, divided by the list's minimum, less 1. Returns false if out of
 * memory. */
bool sg_pair_quality(const struct sg_round_trips *trips, uint32_t patience, uint32_t runs,
                     double *exchanges, double *error);
/* The expected number of exchanges, for any continuous distribution. */
double sg_pair_expected(uint32_t patience);
/* Figure 8: the time until all processes are synchronised, in the tree of core/clocksync.h, or one
 * after the other. processes: 2 to 1024. */
double sg_group_time_ns(const struct sg_round_trips *trips, int32_t processes, bool tree);

#endif
