/* What the network brings: messages, multicasts, and one-sided actions and their answers, which
 * take effect without a processor.
 */
#ifndef SG_SIM_TIMED_ARRIVALS_H
#define SG_SIM_TIMED_ARRIVALS_H

#include "sim/timed/state.h"

/* EVENT_ARRIVE, READY, MULTICAST or ACCESS of an item, now. */
void sg_world_arrive(struct world *world, uint32_t kind, uint32_t index);

#endif
