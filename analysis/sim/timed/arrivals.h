/* What arrives from the network: messages, multicasts, and one-sided accesses and their replies,
 * which take effect without a processor.
 */
#ifndef SG_SIM_TIMED_ARRIVALS_H
#define SG_SIM_TIMED_ARRIVALS_H

#include "sim/timed/state.h"

/* Handles EVENT_ARRIVE, READY, MULTICAST or ACCESS of an item, now. */
void sg_world_arrive(struct world *world, uint32_t kind, uint32_t index);

#endif
