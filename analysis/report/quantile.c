#include "report/quantile.h"

#include <math.h>
#include <stdlib.h>

/* Steps per power of two: values below STEPS have a bucket each. */
#define STEP_BITS 7
#define STEPS (1u << STEP_BITS)
#define BUCKETS ((size_t)(64 - STEP_BITS + 1) * STEPS)
#define FIRST_CAPACITY 16

static size_t bucket_of(uint64_t value)
{
    unsigned shift;

    if (value < STEPS)
        return (size_t)value;
    shift = 63 - (unsigned)__builtin_clzll(value) - STEP_BITS;
    return (size_t)(shift + 1) * STEPS + (size_t)((value >> shift) - STEPS);
}

/* The middle of a bucket. */
static uint64_t value_of(size_t bucket)
{
    unsigned shift;

    if (bucket < STEPS)
        return bucket;
    shift = (unsigned)(bucket / STEPS) - 1;
    return ((uint64_t)(bucket % STEPS + STEPS) << shift) + ((UINT64_C(1) << shift) >> 1);
}

static enum sg_status to_buckets(struct sg_quantiles *quantiles)
{
    quantiles->buckets = calloc(BUCKETS, sizeof *quantiles->buckets);
    if (quantiles->buckets == NULL)
        return SG_ERR_MEMORY;
    for (uint64_t i = 0; i < quantiles->count; i++)
        quantiles->buckets[bucket_of(quantiles->samples[i])]++;
    free(quantiles->samples);
    quantiles->samples = NULL;
    return SG_OK;
}

static enum sg_status more_samples(struct sg_quantiles *quantiles)
{
    size_t capacity = quantiles->capacity ? quantiles->capacity * 2 : FIRST_CAPACITY;
    uint64_t *samples = realloc(quantiles->samples, capacity * sizeof *samples);

    if (samples == NULL)
        return SG_ERR_MEMORY;
    quantiles->samples = samples;
    quantiles->capacity = capacity;
    return SG_OK;
}

enum sg_status sg_quantiles_add(struct sg_quantiles *quantiles, uint64_t value)
{
    enum sg_status status = SG_OK;

    if (quantiles->buckets == NULL && quantiles->count == SG_QUANTILE_EXACT)
        status = to_buckets(quantiles);
    else if (quantiles->buckets == NULL && quantiles->count == quantiles->capacity)
        status = more_samples(quantiles);
    if (status != SG_OK)
        return status;

    if (quantiles->buckets != NULL)
        quantiles->buckets[bucket_of(value)]++;
    else
        quantiles->samples[quantiles->count] = value;
    quantiles->count++;
    if (value > quantiles->max)
        quantiles->max = value;
    return SG_OK;
}

enum sg_status sg_quantiles_merge(struct sg_quantiles *into, const struct sg_quantiles *more)
{
    enum sg_status status = SG_OK;

    if (more->buckets == NULL) {
        for (uint64_t i = 0; i < more->count && status == SG_OK; i++)
            status = sg_quantiles_add(into, more->samples[i]);
        return status;
    }
    if (into->buckets == NULL)
        status = to_buckets(into);
    if (status != SG_OK)
        return status;
    for (size_t bucket = 0; bucket < BUCKETS; bucket++)
        into->buckets[bucket] += more->buckets[bucket];
    into->count += more->count;
    if (more->max > into->max)
        into->max = more->max;
    return SG_OK;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

uint64_t sg_quantiles_get(struct sg_quantiles *quantiles, double q)
{
    uint64_t nth, seen = 0;

    if (quantiles->count == 0)
        return 0;
    nth = (uint64_t)ceil(q * (double)quantiles->count);
    if (nth < 1)
        nth = 1;
    if (nth >= quantiles->count)
        return quantiles->max;
    if (quantiles->buckets == NULL) {
        qsort(quantiles->samples, quantiles->count, sizeof *quantiles->samples, compare);
        return quantiles->samples[nth - 1];
    }
    for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
        seen += quantiles->buckets[bucket];
        if (seen >= nth) {
            uint64_t value = value_of(bucket);

            return value < quantiles->max ? value : quantiles->max;
        }
    }
    return quantiles->max;
}

void sg_quantiles_clear(struct sg_quantiles *quantiles)
{
    free(quantiles->samples);
    free(quantiles->buckets);
    *quantiles = (struct sg_quantiles){0};
}
