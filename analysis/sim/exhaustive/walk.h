/* The two walks of a small scenario with at most one fault: reduced.c walks every order except
 * equivalent ones; unreduced.c walks every order, skips only states already seen, and serves to
 * check the first.
 */
#ifndef SG_SIM_EXHAUSTIVE_WALK_H
#define SG_SIM_EXHAUSTIVE_WALK_H

#include "sim/explore/world.h"

/* The result of a walk: `ends` counts the states in which nothing is possible, ends_sum is a hash
 * of their set. */
struct sg_explore_counts {
    uint64_t states, steps, ends, ends_sum;
};

struct sg_walk {
    /* NULL when there is no memory. */
    void *(*create)(struct sg_explore_world *world);
    void (*destroy)(void *walk);
    /* Walks the scenario, for which the world has just been opened. The result is in the world's
     * violation and in `counts`. False when there is no memory. */
    bool (*run)(void *walk, uint32_t faults, struct sg_explore_counts *counts);
    /* The steps to the violation that was found, in words. */
    void (*show)(void *walk, FILE *out);
};

extern const struct sg_walk sg_walk_reduced, sg_walk_unreduced;

#endif
