/* How far a difference of two means may be due to what differs from one run to the next: of several
 * runs a side, each of which gives one mean.
 *
 * The interval holds the difference with 95 in 100 by Student's t of Welch: runs are few, so that
 * drawing them anew would find far too narrow ones (docs/decisions/0033-several-runs.md). What
 * varies within a run varies its mean, and so is in it. A side of one run has no spread of its own:
 * it is taken to be the other's.
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

#endif
