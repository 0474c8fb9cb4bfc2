/* What bootstraps are made of: drawing with replacement, and the middle of what was drawn.
 *
 * Deterministic: the same start of *random gives the same draws.
 */
#ifndef SG_REPORT_RESAMPLE_H
#define SG_REPORT_RESAMPLE_H

#include "sim/random.h"

#include <stdint.h>

/* With fewer samples the percentiles of what is drawn say too little. */
#define SG_RESAMPLE_SAMPLES_MIN 10u

/* One of count samples: the upper half of the product with 32 random bits, even for so few. */
static inline uint32_t sg_resample_draw(uint64_t *random, uint32_t count)
{
    return (uint32_t)((sg_random_mix(++*random) >> 32) * (uint64_t)count >> 32);
}

/* Where the middle of what was drawn begins and ends when the share `outside` (at most one half) is
 * left out at each end. Sorts drawn. */
void sg_resample_interval(double *drawn, int count, double outside, double *low, double *high);

#endif
