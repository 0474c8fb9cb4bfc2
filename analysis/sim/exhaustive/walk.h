/* The two walks of a small scenario with at most one fault: every order but for equivalent ones
 * (reduced.c), and every order, in which only states already seen are not walked again
 * (unreduced.c): what the reduced walk is compared with.
 */
#ifndef SG_SIM_EXHAUSTIVE_WALK_H
#define SG_SIM_EXHAUSTIVE_WALK_H

#include "sim/explore/world.h"

/* What a walk met: `ends` are the states in which nothing is possible, ends_sum a hash of the set
 * of them. */
struct sg_explore_counts {
    uint64_t states, steps, ends, ends_sum;
};

struct sg_walk {
    /* NULL when there is no memory. */
    void *(*create)(struct sg_explore_world *world);
    void (*destroy)(void *walk);
    /* Walks the scenario, for which the world has just been opened. The outcome is in the world's
     * violation, and in `counts`. False when there is no memory. */
    bool (*run)(void *walk, uint32_t faults, struct sg_explore_counts *counts);
    /* The steps to the violation that it found, in words. */
    void (*show)(void *walk, FILE *out);
};

extern const struct sg_walk sg_walk_reduced, sg_walk_unreduced;

#endif
