/* Walks every order of two instances of one protocol among a few processes, with at most one fault:
 * a multicast that is lost or repeated, or a timer that fires before what is in flight has arrived.
 * States already seen are not walked again, nor, unless asked for, orders that are equivalent to
 * others.
 */
#ifndef SG_SIM_EXHAUSTIVE_EXHAUSTIVE_H
#define SG_SIM_EXHAUSTIVE_EXHAUSTIVE_H

#include "sim/explore/world.h"

/* Walks all small scenarios of a protocol, and prints a line for each to `out`. False on a
 * violation, which is printed with the steps that lead to it, or when memory runs out. Of `faults`,
 * loss, repeat and timers count. unreduced: walks equivalent orders, too. */
bool sg_explore_exhaustive(struct sg_explore_world *world, const struct sg_algo *algo,
                           int32_t nodes, uint32_t faults, bool unreduced, FILE *out);

#endif
