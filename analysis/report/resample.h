/* What bootstraps need: drawing with replacement, and the middle of what was drawn.
 *
 * Deterministic: the same initial *random gives the same draws.
 */
#ifndef SG_REPORT_RESAMPLE_H
#define SG_REPORT_RESAMPLE_H

#include "sim/random.h"

#include <stdint.h>

/* With fewer samples the percentiles of the draws are not meaningful. */
#define SG_RESAMPLE_SAMPLES_MIN 10u

/* One of count samples: the upper half of the product with 32 random bits, unbiased for so few. */
static inline uint32_t sg_resample_draw(uint64_t *random, uint32_t count)
{
    return (uint32_t)((sg_random_mix(++*random) >> 32) * (uint64_t)count >> 32);
}

/* The interval of the middle of drawn: the share `outside` (at most one half) lies beyond each end.
 * Sorts drawn. */
void sg_resample_interval(double *drawn, int count, double outside, double *low, double *high);

#endif
