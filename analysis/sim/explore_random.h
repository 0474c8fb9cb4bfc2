/* The explorer's random numbers: splitmix64, by stream. */
#ifndef SG_SIM_EXPLORE_RANDOM_H
#define SG_SIM_EXPLORE_RANDOM_H

#include "core/hash.h"

#include <stdbool.h>

struct sg_explore_random {
    uint64_t state;
};

static inline struct sg_explore_random sg_explore_stream(uint64_t seed, uint64_t stream)
{
    return (struct sg_explore_random){sg_hash_mix(seed + 1) ^ sg_hash_mix(~stream)};
}

static inline uint64_t sg_explore_next(struct sg_explore_random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    return sg_hash_mix(random->state);
}

/* 0 .. below-1 */
static inline uint32_t sg_explore_below(struct sg_explore_random *random, uint32_t below)
{
    return (uint32_t)((sg_explore_next(random) >> 32) * below >> 32);
}

static inline bool sg_explore_one_in(struct sg_explore_random *random, uint32_t times)
{
    return sg_explore_below(random, times) == 0;
}

#endif
