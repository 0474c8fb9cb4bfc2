/* How far a difference of two means may be due to what differs from one run to the next: for
 * several runs a side, each of which gives one mean.
 *
 * The interval contains the difference with a probability of 95 %, by Student's t after Welch:
 * there are few runs, so that a bootstrap over them would give intervals that are far too narrow
 * (docs/decisions/0033-several-runs.md). Variation within a run affects its mean and so is
 * included. A side of one run has no spread of its own: the other side's is used.
 */
#ifndef SG_COMPARE_RUN_SPREAD_H
#define SG_COMPARE_RUN_SPREAD_H

#include "compare/bootstrap.h"

/* The means of one side's runs. Zero-initialised is none. */
struct sg_run_means {
    uint32_t count;
    double mean;
    double squares_sum; /* of the differences from the mean */
};

void sg_run_means_add(struct sg_run_means *means, double mean);

/* Of b - a; SG_VERDICT_FEW where neither side has two runs. */
struct sg_difference sg_run_spread(const struct sg_run_means *a, const struct sg_run_means *b);

/* The nearest of `count` equal parts. */
static inline uint64_t sg_mean_of(uint64_t sum, uint64_t count)
{
    return (sum + count / 2) / count;
}

#endif
