/* Walks every order of two instances of one protocol among a few processes, with at most one fault:
 * a multicast that is lost or repeated, or a timer that fires before what is in flight has arrived.
 * States already seen are not walked again, nor, unless asked for, orders that are equivalent to
 * others.
 */
#ifndef SG_VERIFY_EXHAUSTIVE_H
#define SG_VERIFY_EXHAUSTIVE_H

#include "verify/world.h"

/* Walks all small scenarios of a protocol, and prints a line for each to `out`. False on a
 * violation, which is printed with the steps that lead to it, or when memory runs out. Of `faults`,
 * loss, repeat and timers count. unreduced: walks equivalent orders, too. */
bool sg_explore_exhaustive(struct sg_explore_world *world, const struct sg_algo *algo,
                           int32_t nodes, uint32_t faults, bool unreduced, FILE *out);

/* The two walks of a small scenario with at most one fault: reduced.c walks every order except
 * equivalent ones; unreduced.c walks every order, skips only states already seen, and serves to
 * check the first.
 */

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
