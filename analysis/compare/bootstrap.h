/* How far a difference of two means may be due to chance: the bootstrap over instances.
 *
 * The mean is a cost per call: the sum of ns divided by the number of calls. Each of
 * SG_BOOTSTRAP_DRAWS draws takes from both series as many samples as they have, with replacement;
 * the interval contains the middle 95 % of the differences (percentile bootstrap). It covers the
 * variation within the two runs, and not what differs from one run to the next.
 *
 * Deterministic: the same series and seed give the same interval.
 */
#ifndef SG_COMPARE_BOOTSTRAP_H
#define SG_COMPARE_BOOTSTRAP_H

#include "compare/series.h"
#include "report/resample.h"

#include <stdbool.h>

#define SG_BOOTSTRAP_DRAWS 1000
#define SG_BOOTSTRAP_SAMPLES_MIN SG_RESAMPLE_SAMPLES_MIN

enum sg_verdict {
    SG_VERDICT_UNKNOWN, /* no events on one of the sides */
    SG_VERDICT_FEW,     /* too few instances for an interval */
    SG_VERDICT_NOISE,   /* the interval holds 0 */
    SG_VERDICT_LESS,    /* b costs less, */
    SG_VERDICT_MORE,    /* or more, than a */
    SG_VERDICT_COUNT
};

/* ns per call. */
struct sg_difference {
    enum sg_verdict verdict;
    double low, high; /* of b - a; where the verdict is one of the last three */
};

/* The verdict that follows from low and high. */
void sg_difference_judge(struct sg_difference *difference);

/* Fills in one difference for each of enum sg_measured. SG_ERR_MEMORY only (not logged). */
enum sg_status sg_bootstrap(const struct sg_series *a, const struct sg_series *b, uint64_t seed,
                            struct sg_difference out[SG_MEASURED_COUNT]);

/* The same for the mean of values of one kind, for example what each of some instances would have
 * cost less. False: too few values, or no memory. */
bool sg_bootstrap_mean(const double *values, uint32_t count, uint64_t seed, double *low,
                       double *high);

/* From the sum; 0 without calls. */
double sg_series_mean(const struct sg_series *series, enum sg_measured measured);

#endif
