/* How far a difference of two means may be due to chance: the bootstrap over instances.
 *
 * The mean is a cost per call, sum of ns by sum of calls. Both series are drawn from anew, with
 * replacement and as many samples as they have, SG_BOOTSTRAP_DRAWS times; the interval holds the
 * middle 95 in 100 of the differences drawn (percentile bootstrap). It knows of the variation
 * within the two runs and nothing of what differs from one run to the next.
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

/* The verdict that low and high come to. */
void sg_difference_judge(struct sg_difference *difference);

/* Fills one difference for each of enum sg_measured. SG_ERR_MEMORY only (not logged). */
enum sg_status sg_bootstrap(const struct sg_series *a, const struct sg_series *b, uint64_t seed,
                            struct sg_difference out[SG_MEASURED_COUNT]);

/* The same of a mean of values that belong together, such as what each of some instances would have
 * cost less: its interval. False: there are too few, or there is no memory. */
bool sg_bootstrap_mean(const double *values, uint32_t count, uint64_t seed, double *low,
                       double *high);

/* Of the sum; 0 without calls. */
double sg_series_mean(const struct sg_series *series, enum sg_measured measured);

#endif
