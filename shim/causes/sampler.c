#include "causes/sampler.h"

/* So many are taken at first, one after the other, if they can be paid for. */
#define FIRST 64
/* What is known of costs and times is of the last so many at least. */
#define MEMORY 16.0
#define MEMORY_CHANCES 1024.0
/* The level aims below the share: what is taken next may cost more. */
#define AIM 0.75
#define LEVEL_MOST 40u
/* The level is looked at again when so many should have been taken. */
#define PATIENCE 4.0
#define REVIEW_LEAST_NS 1e6

static void set_level(struct sg_sampler *sampler, unsigned level)
{
    sampler->level = level;
    sampler->mask = (UINT64_C(1) << level) - 1;
}

void sg_sampler_start(struct sg_sampler *sampler, double share, uint64_t start_ns)
{
    *sampler = (struct sg_sampler){.share = share,
                                   .start_ns = start_ns,
                                   .noted_ns = start_ns,
                                   .review_ns = UINT64_MAX,
                                   .has_begun = share == 0};
}

static void note(struct sg_sampler *sampler, uint64_t now_ns)
{
    if (now_ns > sampler->noted_ns)
        sampler->time_ns += (double)(now_ns - sampler->noted_ns);
    sampler->noted_ns = now_ns;
    sampler->chances += sampler->uncounted;
    sampler->uncounted = 0;
}

/* What is long ago counts less: costs by what was taken, times by what came. */
static void forget(struct sg_sampler *sampler)
{
    if (sampler->taken > MEMORY) {
        sampler->taken /= 2;
        sampler->cost_ns /= 2;
        sampler->dearest_ns /= 2;
    }
    if (sampler->chances > MEMORY_CHANCES) {
        sampler->chances /= 2;
        sampler->time_ns /= 2;
    }
}

void sg_sampler_review(struct sg_sampler *sampler, uint64_t now_ns)
{
    double ratio, wait_ns;
    unsigned level = 0;

    note(sampler, now_ns);
    if (sampler->taken < 1 || sampler->chances < 1 || sampler->time_ns <= 0)
        return;
    ratio = sampler->cost_ns / sampler->taken * sampler->chances /
            (sampler->time_ns * sampler->share * AIM);
    while (level < LEVEL_MOST && (double)(UINT64_C(1) << level) < ratio)
        level++;
    set_level(sampler, level);
    wait_ns = PATIENCE * (double)(UINT64_C(1) << level) * sampler->time_ns / sampler->chances;
    if (wait_ns < REVIEW_LEAST_NS)
        wait_ns = REVIEW_LEAST_NS;
    sampler->review_ns = now_ns + (uint64_t)wait_ns;
    forget(sampler);
}

/* Whether one as dear as the dearest lately would be paid for. */
static bool has_room(struct sg_sampler *sampler, uint64_t now_ns)
{
    uint64_t last_ns = sampler->spent_ns - sampler->taken_at_ns;

    if (last_ns > sampler->dearest_ns)
        sampler->dearest_ns = last_ns;
    sampler->taken_at_ns = sampler->spent_ns;
    return now_ns > sampler->start_ns && (double)(sampler->spent_ns + sampler->dearest_ns) <=
                                             sampler->share * (double)(now_ns - sampler->start_ns);
}

bool sg_sampler_affords(struct sg_sampler *sampler, uint64_t now_ns)
{
    bool affords;

    if (sampler->share == 0)
        return true;
    affords = has_room(sampler, now_ns);
    if (!sampler->has_begun && (!affords || sampler->taken >= FIRST)) {
        sampler->has_begun = true;
        note(sampler, now_ns);
    }
    if (sampler->has_begun)
        sg_sampler_review(sampler, now_ns);
    if (affords)
        sampler->taken++;
    return affords;
}
