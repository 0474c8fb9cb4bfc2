/* The node level of timed runs: which process of an endpoint delivers the call to the protocol, and
 * when each process leaves. */
#ifndef SG_SIM_NODE_LEVEL_H
#define SG_SIM_NODE_LEVEL_H

#include "sim/timed_state.h"

enum sg_status sg_node_level_setup(struct world *world);
void sg_node_level_clear(struct world *world);
/* Memory of one endpoint's node level. */
double sg_node_level_bytes(const struct world *world);
/* A process arrives at its call at *time_ns. True: it is the last and delivers the call, at the
 * updated *time_ns. False: it has left, waits, or arrives again after a completion, at an
 * EVENT_WORK_END. */
bool sg_node_level_arrive(struct world *world, int32_t process, uint64_t *time_ns);
/* True if every rank gets the result in its buffer without a copy by the protocol. */
bool sg_node_level_places_result(const struct world *world);
/* The endpoint's call is complete at time_ns. */
void sg_node_level_complete(struct world *world, int32_t endpoint, uint64_t time_ns);

#endif
