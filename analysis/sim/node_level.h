/* The processes of one endpoint: which of them delivers the call to the protocol, and when each
 * leaves. */
#ifndef SG_SIM_NODE_LEVEL_H
#define SG_SIM_NODE_LEVEL_H

#include "sim/timed_state.h"

enum sg_status sg_node_level_setup(struct world *world);
void sg_node_level_clear(struct world *world);
/* The memory of one endpoint's node level. */
double sg_node_level_bytes(const struct world *world);
/* A process arrives at its call at *time_ns. True: it is the last and delivers the call, at the
 * time that *time_ns then is. False: it has left, waits, or is to arrive again after a completion,
 * at an EVENT_WORK_END. */
bool sg_node_level_arrive(struct world *world, int32_t process, uint64_t *time_ns);
/* Whether every rank has the result where it wants it without a copy of the protocol's. */
bool sg_node_level_places_result(const struct world *world);
/* The endpoint's call is complete at time_ns. */
void sg_node_level_complete(struct world *world, int32_t endpoint, uint64_t time_ns);

#endif
