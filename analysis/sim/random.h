/* Random numbers for the simulator and the explorer, without I/O or shared state.
 *
 * By counter: each number is a pure function of (seed, purpose, who, number). So a stream needs no
 * state, streams do not disturb each other, and a draw does not depend on the order of events. The
 * mix is that of splitmix64, applied once for each coordinate. By stream: splitmix64 with its
 * state, for the explorer's consecutive choices. */
#ifndef SG_SIM_RANDOM_H
#define SG_SIM_RANDOM_H

#include "core/hash.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum sg_random_purpose {
    SG_RANDOM_SKEW = 1,  /* per process and iteration */
    SG_RANDOM_NOISE,     /* per process and iteration */
    SG_RANDOM_LOSS,      /* per receiver and multicast */
    SG_RANDOM_JITTER,    /* per receiver and message */
    SG_RANDOM_ROUND_TRIP /* per pair of processes and exchange */
};

static inline uint64_t sg_random_mix(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

static inline uint64_t sg_random(uint64_t seed, enum sg_random_purpose purpose, uint64_t who,
                                 uint64_t number)
{
    uint64_t mixed = sg_random_mix(seed ^ ((uint64_t)purpose << 56));

    return sg_random_mix(sg_random_mix(mixed ^ who) ^ number);
}

/* In [0, 1). */
static inline double sg_random_unit(uint64_t random)
{
    return (double)(random >> 11) * 0x1p-53;
}

/* Exponentially distributed. */
static inline double sg_random_exponential(uint64_t random, double mean)
{
    return -mean * log1p(-sg_random_unit(random));
}

/* ---- by stream: splitmix64, for consecutive choices */

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
