/* Quantiles in bounded memory (exact samples, then buckets), the cost of skew in one instance, and
 * the interval of a bootstrap.
 */
#include "report/quantiles.h"

#include <math.h>
#include <stdlib.h>

/* Steps per power of two; each value below STEPS has its own bucket. */
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

static int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The time from than_ns to time_ns, or 0 if negative. Times in damaged archives can be any distance
 * apart. */
static uint64_t later_by(int64_t time_ns, int64_t than_ns)
{
    return time_ns > than_ns ? (uint64_t)time_ns - (uint64_t)than_ns : 0;
}

/* True if no member can leave before all have entered. An operation without data need not wait: an
 * algorithm that lets members leave early is correct, and the times show whether one did. */
static bool must_synchronise(const struct sg_instance *instance)
{
    bool must = instance->operation == SG_OPERATION_BARRIER;

    if (instance->operation != SG_OPERATION_ALLREDUCE)
        return must;
    for (uint32_t i = 0; i < instance->size && !must; i++)
        must = instance->calls[i].bytes > 0;
    return must;
}

/* The longest time by which a member left before the root entered, although it has the root's
 * data. */
static uint64_t broadcast_violation(const struct sg_instance *instance)
{
    const struct sg_member_call *root = &instance->calls[instance->root];
    uint64_t most_ns = 0;

    for (uint32_t i = 0; i < instance->size && root->bytes > 0; i++) {
        uint64_t early_ns = later_by(root->begin_ns, instance->calls[i].end_ns);

        if (early_ns > most_ns)
            most_ns = early_ns;
    }
    return most_ns;
}

void sg_measure_instance(const struct sg_instance *instance, struct sg_measure *out)
{
    const struct sg_member_call *calls = instance->calls;
    struct sg_measure measure = {.first_begin_ns = calls[0].begin_ns,
                                 .last_begin_ns = calls[0].begin_ns,
                                 .first_end_ns = calls[0].end_ns};

    for (uint32_t i = 0; i < instance->size; i++) {
        measure.first_begin_ns = min_of(measure.first_begin_ns, calls[i].begin_ns);
        measure.first_end_ns = min_of(measure.first_end_ns, calls[i].end_ns);
        if (calls[i].begin_ns > measure.last_begin_ns) {
            measure.last_begin_ns = calls[i].begin_ns;
            measure.last = i;
        }
    }
    measure.skew_ns = later_by(measure.last_begin_ns, measure.first_begin_ns);
    measure.must_synchronise = must_synchronise(instance);
    if (measure.must_synchronise)
        measure.violation_ns = later_by(measure.last_begin_ns, measure.first_end_ns);
    else if (instance->operation == SG_OPERATION_BCAST)
        measure.violation_ns = broadcast_violation(instance);
    else if (instance->operation != SG_OPERATION_REDUCE)
        measure.unsynchronised = measure.last_begin_ns > measure.first_end_ns;
    *out = measure;
}

uint32_t sg_measure_awaited(const struct sg_instance *instance, const struct sg_measure *measure)
{
    uint32_t last = instance->root == 0 && instance->size > 1 ? 1 : 0;

    if (instance->operation == SG_OPERATION_BCAST)
        return instance->root;
    if (instance->operation != SG_OPERATION_REDUCE)
        return measure->last;
    for (uint32_t i = 0; i < instance->size; i++) {
        if (i != instance->root && instance->calls[i].begin_ns > instance->calls[last].begin_ns)
            last = i;
    }
    return last;
}

/* The last of the members that this one had to wait for, by the flow of data; itself if there is
 * none. */
static uint32_t needed_by(const struct sg_instance *instance, const struct sg_measure *measure,
                          uint32_t member)
{
    if (instance->operation == SG_OPERATION_REDUCE)
        return member == instance->root && instance->size > 1
                   ? sg_measure_awaited(instance, measure)
                   : member;
    if (instance->operation == SG_OPERATION_BCAST)
        return instance->root;
    return measure->unsynchronised ? member : measure->last;
}

uint32_t sg_measure_awaited_by(const struct sg_instance *instance, const struct sg_measure *measure,
                               uint32_t member)
{
    const struct sg_member_call *calls = instance->calls;
    uint32_t needed = needed_by(instance, measure, member), other;

    if (instance->nonblocking || instance->size < 2 || needed == measure->last)
        return needed;
    other = sg_arrivals_awaited(instance->arrivals, instance->size, member, calls[member].end_ns);
    return calls[other].begin_ns > calls[needed].begin_ns ? other : needed;
}

/* The time when every member that this one waited for had arrived. */
static int64_t arrivals_of(const struct sg_instance *instance, const struct sg_measure *measure,
                           uint32_t member)
{
    return instance->calls[sg_measure_awaited_by(instance, measure, member)].begin_ns;
}

/* A nonblocking call can wait anywhere, of which the sum is known. It usually waits last, and until
 * it is complete: what it waited after the last arrival was not for that. */
static void measure_nonblocking(const struct sg_instance *instance,
                                const struct sg_measure *measure, uint32_t member,
                                struct sg_call_measure *out)
{
    const struct sg_member_call *call = &instance->calls[member];
    int64_t arrivals_ns = arrivals_of(instance, measure, member);
    uint64_t wait_ns = later_by(arrivals_ns, call->begin_ns);
    uint64_t after_ns = later_by(call->end_ns, arrivals_ns);
    uint64_t exposed_ns = call->exposed_ns > after_ns ? call->exposed_ns - after_ns : 0;

    out->blocked_ns = call->start_ns + call->exposed_ns;
    out->wait_ns = wait_ns < exposed_ns ? wait_ns : exposed_ns;
    out->avoided_ns = wait_ns > out->blocked_ns ? wait_ns - out->blocked_ns : 0;
}

void sg_measure_call(const struct sg_instance *instance, const struct sg_measure *measure,
                     uint32_t member, struct sg_call_measure *out)
{
    const struct sg_member_call *call = &instance->calls[member];

    *out = (struct sg_call_measure){.blocked_ns = later_by(call->end_ns, call->begin_ns),
                                    .ran_ahead = !measure->must_synchronise &&
                                                 call->end_ns < measure->last_begin_ns};
    if (instance->nonblocking) {
        measure_nonblocking(instance, measure, member, out);
    } else {
        int64_t arrivals_ns = arrivals_of(instance, measure, member);
        int64_t late_ns = min_of(arrivals_ns, call->end_ns);

        out->wait_ns = later_by(late_ns, call->begin_ns);
        if (sg_operation_synchronises(instance->operation) && !measure->unsynchronised)
            out->completion_ns = later_by(call->end_ns, max_of(measure->first_end_ns, late_ns));
        else if (instance->operation == SG_OPERATION_REDUCE)
            out->avoided_ns = later_by(arrivals_ns, max_of(call->begin_ns, call->end_ns));
    }
}

static int resample_compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

void sg_resample_interval(double *drawn, int count, double outside, double *low, double *high)
{
    int first = (int)(outside * count);

    qsort(drawn, (size_t)count, sizeof *drawn, resample_compare);
    *low = drawn[first];
    *high = drawn[count - 1 - first];
}
