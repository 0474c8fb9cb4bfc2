/* Quantiles of a stream of non-negative values (ns) in bounded memory, the cost of skew in one
 * instance, and bootstrap intervals.
 *
 * Quantiles are exact up to SG_QUANTILE_EXACT samples. Beyond that a log-linear histogram with 128
 * steps per power of two limits the error of a quantile to 1/256 of its value (0.4 %); values below
 * 128 and the maximum stay exact. Quantile q of n samples is the ceil(q n)-th smallest.
 */
#ifndef SG_REPORT_QUANTILES_H
#define SG_REPORT_QUANTILES_H

#include "core/status.h"
#include "report/window.h"
#include "sim/random.h"

#include <stddef.h>
#include <stdint.h>

#define SG_QUANTILE_EXACT 1024

/* All zero: empty. */
struct sg_quantiles {
    uint64_t *samples; /* the first SG_QUANTILE_EXACT; NULL once the histogram is in use */
    size_t capacity;
    uint64_t *buckets; /* NULL while samples are exact */
    uint64_t count;
    uint64_t max;
};

/* Returns SG_OK or SG_ERR_MEMORY, not logged. */
enum sg_status sg_quantiles_add(struct sg_quantiles *quantiles, uint64_t value);
/* Adds all samples of another. Returns SG_OK or SG_ERR_MEMORY, not logged. */
enum sg_status sg_quantiles_merge(struct sg_quantiles *into, const struct sg_quantiles *more);
/* 0 < q <= 1. Returns 0 without samples. Sorts the samples in place. */
uint64_t sg_quantiles_get(struct sg_quantiles *quantiles, double q);
void sg_quantiles_clear(struct sg_quantiles *quantiles);

/* The cost of skew in one instance. The definitions are Scalasca's, so that its users recognise the
 * figures, but for the last wait.
 *
 * With B a member's entry and E its exit:
 *   skew                 max B - min B
 *   wait at barrier/NxN  late_i = min(max B, E_i), wait_i = max(0, late_i - B_i)
 *   completion_i         max(0, E_i - max(min E, late_i))
 *   late broadcast       not at the root: max(0, min(B_root, E_i) - B_i)
 *   early reduce         at the root: max(0, min(max B of the senders, E_root) - B_root)
 *   of a blocking call   at least max(0, max B below E_i - B_i): algorithms pass data through other
 *                        members, and senders may need their receivers
 *   blocked_i            E_i - B_i
 *   wait avoided_i       the wait from the arrivals alone, without the bound by E_i, minus
 *                        blocked_i, where positive. Only a root that left a reduce before its
 *                        senders arrived can have avoided any: no member leaves a correct barrier
 *                        or allreduce before the last has entered, so there E_i < max B is
 *   a clock violation    the clocks of two members contradict each other.
 * An allreduce without data (no elements, or a type of size zero) need not synchronise: if a member
 * left before another entered, the instance says nothing about the clocks, and only the last rule
 * finds waits.
 *
 * For a nonblocking collective B is the begin of the call that starts it and E its completion. In
 * between the member is blocked in that call (start_i) and in waits and tests (exposed_i):
 *   blocked_i            start_i + exposed_i
 *   wait_i               the wait from the arrivals alone, at most exposed_i
 *   wait avoided_i       as above, for any member
 *   completion_i         not known: 0
 *
 * Pure functions.
 */

struct sg_measure {
    int64_t first_begin_ns; /* min B */
    int64_t last_begin_ns;  /* max B */
    int64_t first_end_ns;   /* min E */
    uint64_t skew_ns;
    /* max B - min E for synchronising operations, B of the root - min E for a broadcast; 0 if
     * negative. */
    uint64_t violation_ns;
    bool must_synchronise; /* no member can leave before all have entered */
    /* an allreduce without data in which a member left before another entered */
    bool unsynchronised;
    uint32_t last; /* rank in the communicator; the lowest if several were last */
};

struct sg_call_measure {
    uint64_t wait_ns;
    uint64_t completion_ns; /* 0 for an operation with a root and for a nonblocking call */
    uint64_t avoided_ns;
    uint64_t blocked_ns;
    bool ran_ahead; /* left before the last member entered; not set if the clocks contradict that */
};

void sg_measure_instance(const struct sg_instance *instance, struct sg_measure *out);
/* Returns the member that most others waited for: in a reduce the last one except the root, in a
 * broadcast the root, otherwise the last one. */
uint32_t sg_measure_awaited(const struct sg_instance *instance, const struct sg_measure *measure);
/* Returns the member that a member waited for, if it waited. */
uint32_t sg_measure_awaited_by(const struct sg_instance *instance, const struct sg_measure *measure,
                               uint32_t member);
void sg_measure_call(const struct sg_instance *instance, const struct sg_measure *measure,
                     uint32_t member, struct sg_call_measure *out);

/* Bootstraps: draws with replacement, and the interval around the middle of the draws.
 *
 * Deterministic: the same initial *random gives the same draws.
 */

/* With fewer samples the percentiles of the draws mean nothing. */
#define SG_RESAMPLE_SAMPLES_MIN 10u

/* Draws one of count samples: the upper half of the product with 32 random bits, unbiased for small
 * counts. */
static inline uint32_t sg_resample_draw(uint64_t *random, uint32_t count)
{
    return (uint32_t)((sg_random_mix(++*random) >> 32) * (uint64_t)count >> 32);
}

/* The interval around the middle of drawn: the share `outside` (at most one half) lies beyond each
 * end. Sorts drawn. */
void sg_resample_interval(double *drawn, int count, double outside, double *low, double *high);

#endif
