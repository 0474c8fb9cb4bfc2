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

#endif
