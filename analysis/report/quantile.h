/* Quantiles of a stream of non-negative values (ns) in bounded memory.
 *
 * Exact up to SG_QUANTILE_EXACT samples. Beyond that a log-linear histogram with 128 steps for each
 * power of two, so that a quantile is off by at most 1/256 of its value (0.4 %); values below 128
 * and the maximum stay exact. Quantile q of n samples is the ceil(q n)-th smallest.
 */
#ifndef SG_REPORT_QUANTILE_H
#define SG_REPORT_QUANTILE_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

#define SG_QUANTILE_EXACT 1024

/* Zero-initialised is empty. */
struct sg_quantiles {
    uint64_t *samples; /* the first SG_QUANTILE_EXACT; NULL once the histogram is in use */
    size_t capacity;
    uint64_t *buckets; /* NULL while samples are exact */
    uint64_t count;
    uint64_t max;
};

/* SG_ERR_MEMORY only (not logged). */
enum sg_status sg_quantiles_add(struct sg_quantiles *quantiles, uint64_t value);

/* Adds all samples of another. SG_ERR_MEMORY only (not logged). */
enum sg_status sg_quantiles_merge(struct sg_quantiles *into, const struct sg_quantiles *more);

/* 0 < q <= 1. 0 when there are no samples. Sorts the samples in place. */
uint64_t sg_quantiles_get(struct sg_quantiles *quantiles, double q);

void sg_quantiles_clear(struct sg_quantiles *quantiles);

#endif
