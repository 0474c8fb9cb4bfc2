/* Chooses samples so that their cost stays within a share of the time and all ranks choose the same
 * ones as far as they sample as many; and keeps a thread's open stretches and its sums.
 *
 * A candidate has a hash that is the same on all ranks without a message. It is taken if the hash
 * ends in `level` zero bits: one in 2^level, and candidates of a greater level are a subset of
 * those of a lower one. Each thread sets its level from the cost of its samples and the rate of
 * candidates. It begins at 0, so that a short run has samples. Whatever the level, no sample is
 * taken that would exceed the share if it cost as much as the most expensive one lately.
 *
 * The sampler and the stretches are pure: the caller passes times. All state is one thread's.
 */
#ifndef SG_CAUSES_SAMPLER_H
#define SG_CAUSES_SAMPLER_H

#include "causes/reader.h"
#include "trace/log.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_sampler {
    double share; /* of the time; 0: every candidate is taken */
    uint64_t start_ns;
    uint64_t spent_ns;
    uint64_t dearest_ns;  /* most expensive recent sample */
    uint64_t taken_at_ns; /* spent_ns when a sample was last decided */
    uint64_t mask;        /* bits of a hash that have to be 0 */
    unsigned level;
    /* Recent sums: halved from time to time. */
    double chances, taken, time_ns, cost_ns;
    uint64_t noted_ns;  /* time_ns and chances are up to date until here */
    uint32_t uncounted; /* candidates since noted_ns */
    uint64_t review_ns; /* when the level is next reviewed, even if nothing is taken */
    bool has_begun;     /* the initial phase is over */
};

void sg_sampler_start(struct sg_sampler *sampler, double share, uint64_t start_ns);
void sg_sampler_review(struct sg_sampler *sampler, uint64_t now_ns);
/* True if the budget allows another sample; adjusts the level. */
bool sg_sampler_affords(struct sg_sampler *sampler, uint64_t now_ns);

/* Returns true for a candidate that is certainly not taken: the caller is done with it. Else call
 * sg_sampler_takes. */
static inline bool sg_sampler_drops(struct sg_sampler *sampler, uint64_t hash, uint64_t now_ns)
{
    if (__builtin_expect((hash & sampler->mask) == 0 || now_ns > sampler->review_ns, 0))
        return false;
    sampler->uncounted++;
    return true;
}

/* Decides a candidate; true: take it. */
static inline bool sg_sampler_takes(struct sg_sampler *sampler, uint64_t hash, uint64_t now_ns)
{
    sampler->uncounted++;
    if (__builtin_expect(now_ns > sampler->review_ns, 0))
        sg_sampler_review(sampler, now_ns);
    return __builtin_expect((hash & sampler->mask) == 0, 0) && sg_sampler_affords(sampler, now_ns);
}

/* Charges the cost of a sample, whole or in parts. */
static inline void sg_sampler_pay(struct sg_sampler *sampler, uint64_t cost_ns)
{
    sampler->spent_ns += cost_ns;
    sampler->cost_ns += (double)cost_ns;
}

/* True if more than the share has been spent. */
static inline bool sg_sampler_is_spent(const struct sg_sampler *sampler, uint64_t now_ns)
{
    return sampler->share > 0 && now_ns > sampler->start_ns &&
           (double)sampler->spent_ns > sampler->share * (double)(now_ns - sampler->start_ns);
}

/* ---- open stretches of a thread ----
 *
 * A stretch lies between two consecutive collectives of a communicator. A chosen stretch begins
 * with the communicator's next collective; until then it is armed. Pure; one thread's.
 */

#define SG_STRETCHES_MOST 8 /* a communicator has at most one armed and one begun */

struct sg_open_stretch {
    uint64_t hash; /* that chose it */
    uint64_t key;  /* of its communicator, not 0 */
    uint32_t comm, number;
    bool is_armed;
};

struct sg_open_stretches {
    struct sg_open_stretch open[SG_STRETCHES_MOST]; /* oldest first */
    int count;
};

/* Adds a stretch; drops the oldest one if there are too many. */
void sg_stretches_add(struct sg_open_stretches *stretches, const struct sg_open_stretch *stretch);
/* Removes the communicator's armed stretch, or the one that has begun, into *out. False: there is
 * none, and *out is unchanged. */
bool sg_stretches_take(struct sg_open_stretches *stretches, uint64_t key, bool is_armed,
                       struct sg_open_stretch *out);
/* Returns the last one that has begun; NULL: none. */
const struct sg_open_stretch *sg_stretches_current(const struct sg_open_stretches *stretches);

/* ---- sums over sampled intervals, by the sites at both ends, in the log ----
 *
 * One thread's, without locks; memory grows with the number of pairs of sites.
 */

struct sg_causes_sums {
    struct sg_record_interval_sum **slots; /* open addressing, at most half full; NULL: free */
    uint32_t capacity, used;
};

/* Adds an interval to its pair's sums. False: no capacity for the pair. */
bool sg_causes_sums_add(struct sg_causes_sums *sums, struct sg_log *log, uint16_t thread,
                        uint32_t left, uint32_t entered, const struct sg_reading *interval);
/* Sets all sums to zero. */
void sg_causes_sums_reset(const struct sg_causes_sums *sums);
/* Frees the table; the log may then be closed. */
void sg_causes_sums_clear(struct sg_causes_sums *sums);

#endif
