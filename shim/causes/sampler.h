/* Which of many chances are taken, so that what they cost stays a share of the time, and all ranks
 * take the same ones as far as they take as many.
 *
 * A chance has a hash that all ranks agree on without a message. One whose hash ends in `level`
 * zero bits is taken: one in 2^level, and those of a greater level are among those of a lesser one.
 * Each thread finds its level from what the taken ones have cost it and from how often chances
 * come; it begins at 0, so that a short run has some. Whatever the level, nothing is taken that
 * would go beyond the share if it cost as much as the dearest one lately.
 *
 * Pure: the times are the caller's. A sampler is one thread's.
 */
#ifndef SG_CAUSES_SAMPLER_H
#define SG_CAUSES_SAMPLER_H

#include "causes/reader.h"
#include "trace/log.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_sampler {
    double share; /* of the time; 0: everything is taken */
    uint64_t start_ns;
    uint64_t spent_ns;
    uint64_t dearest_ns;  /* of the taken ones lately */
    uint64_t taken_at_ns; /* spent_ns when one could be taken last */
    uint64_t mask;        /* bits of a hash that are to be 0 */
    unsigned level;
    /* Lately: each is halved now and then. */
    double chances, taken, time_ns, cost_ns;
    uint64_t noted_ns;  /* until then time_ns and chances are up to date */
    uint32_t uncounted; /* chances since */
    uint64_t review_ns; /* when the level is looked at whether something is taken or not */
    bool has_begun;     /* the first ones are over */
};

void sg_sampler_start(struct sg_sampler *sampler, double share, uint64_t start_ns);
void sg_sampler_review(struct sg_sampler *sampler, uint64_t now_ns);
/* Whether there is something left to spend; the level follows. */
bool sg_sampler_affords(struct sg_sampler *sampler, uint64_t now_ns);

/* A chance that is certainly not taken: nothing is left to do for it. Else sg_sampler_takes. */
static inline bool sg_sampler_drops(struct sg_sampler *sampler, uint64_t hash, uint64_t now_ns)
{
    if (__builtin_expect((hash & sampler->mask) == 0 || now_ns > sampler->review_ns, 0))
        return false;
    sampler->uncounted++;
    return true;
}

/* A chance; true: it is taken. */
static inline bool sg_sampler_takes(struct sg_sampler *sampler, uint64_t hash, uint64_t now_ns)
{
    sampler->uncounted++;
    if (__builtin_expect(now_ns > sampler->review_ns, 0))
        sg_sampler_review(sampler, now_ns);
    return __builtin_expect((hash & sampler->mask) == 0, 0) && sg_sampler_affords(sampler, now_ns);
}

/* What one that was taken has cost, in one piece or in several. */
static inline void sg_sampler_pay(struct sg_sampler *sampler, uint64_t cost_ns)
{
    sampler->spent_ns += cost_ns;
    sampler->cost_ns += (double)cost_ns;
}

/* Whether more has been spent than the share. */
static inline bool sg_sampler_is_spent(const struct sg_sampler *sampler, uint64_t now_ns)
{
    return sampler->share > 0 && now_ns > sampler->start_ns &&
           (double)sampler->spent_ns > sampler->share * (double)(now_ns - sampler->start_ns);
}

/* The stretches that a thread has open: what lies between two collectives of a communicator that
 * follow each other. One that is chosen begins with the communicator's next collective; until then
 * it is armed.
 *
 * Pure; one thread's.
 */

#define SG_STRETCHES_MOST 8 /* of each communicator one that is armed and one that has begun */

struct sg_open_stretch {
    uint64_t hash; /* by which it was chosen */
    uint64_t key;  /* of its communicator, not 0 */
    uint32_t comm, number;
    bool is_armed;
};

struct sg_open_stretches {
    struct sg_open_stretch open[SG_STRETCHES_MOST]; /* in the order of their begin */
    int count;
};

/* Where there are too many, the one that is there for longest is given up. */
void sg_stretches_add(struct sg_open_stretches *stretches, const struct sg_open_stretch *stretch);
/* Takes the communicator's out: that which is armed, or that which has begun. False: there is none,
 * and *out is as before. */
bool sg_stretches_take(struct sg_open_stretches *stretches, uint64_t key, bool is_armed,
                       struct sg_open_stretch *out);
/* The last to begin; NULL: none has. */
const struct sg_open_stretch *sg_stretches_current(const struct sg_open_stretches *stretches);

/* One thread's sums over the intervals that were sampled, by the sites at both ends, in the log.
 *
 * The thread adds without locks; memory grows with the pairs of sites that there are.
 */

struct sg_causes_sums {
    struct sg_record_interval_sum **slots; /* open addressing, at most half full; NULL: free */
    uint32_t capacity, used;
};

/* False: there is no room for this pair of sites. */
bool sg_causes_sums_add(struct sg_causes_sums *sums, struct sg_log *log, uint16_t thread,
                        uint32_t left, uint32_t entered, const struct sg_reading *interval);
/* All to zero. */
void sg_causes_sums_reset(const struct sg_causes_sums *sums);
/* Lets go of the log. */
void sg_causes_sums_clear(struct sg_causes_sums *sums);

#endif
