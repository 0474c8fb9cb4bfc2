/* Walks every order of two instances of one protocol among a few processes, with at most one fault:
 * a multicast that is lost or repeated, or a timer that fires before messages in flight have
 * arrived. A walk does not repeat states, nor, unless asked to, orders that are equivalent to
 * walked ones. */
#ifndef SG_VERIFY_EXHAUSTIVE_H
#define SG_VERIFY_EXHAUSTIVE_H

#include "verify/world.h"

/* Walks all small scenarios of a protocol, and prints a line for each to `out`. False when memory
 * runs out, or on a violation, which is printed with the steps that lead to it. Only loss, repeat
 * and timers of `faults` are used. unreduced: also walks equivalent orders. */
bool sg_explore_exhaustive(struct sg_explore_world *world, const struct sg_algo *algo,
                           int32_t nodes, uint32_t faults, bool unreduced, FILE *out);

/* Two walks of a small scenario with at most one fault: sg_walk_reduced (reduced.c) walks every
 * order except equivalent ones; sg_walk_unreduced (exhaustive.c) walks every order, skips only
 * repeated states, and serves to check the first. */

/* The result of a walk: `ends` counts the states in which no step is possible, ends_sum is a hash
 * of their set. */
struct sg_explore_counts {
    uint64_t states, steps, ends, ends_sum;
};

struct sg_walk {
    /* NULL when memory runs out. */
    void *(*create)(struct sg_explore_world *world);
    void (*destroy)(void *walk);
    /* Walks the scenario, for which the world has just been opened. Stores the result in the
     * world's violation and in `counts`. False when memory runs out. */
    bool (*run)(void *walk, uint32_t faults, struct sg_explore_counts *counts);
    /* Prints the steps to the violation that was found. */
    void (*show)(void *walk, FILE *out);
};

extern const struct sg_walk sg_walk_reduced, sg_walk_unreduced;

#endif
