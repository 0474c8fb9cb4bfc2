/* The live event loop of shim/algos/algo.h: carries out a protocol's actions. It also holds the
 * events that protocols await without a message: replies to accesses, watched cells, timers.
 *
 * Everything runs under the endpoint's lock, in an application thread, the progress thread or a
 * signal handler: no malloc, no stdio, no MPI.
 */
#ifndef SG_INTERNODE_HOST_H
#define SG_INTERNODE_HOST_H

#include "internode/communicator.h"

void sg_internode_carry_out(struct sg_delivery *delivery, const struct sg_actions *actions);

/* Takes the next reply with that `waits` flag: deferred to the next poll, or not. False: none. */
bool sg_endpoint_take_reply(struct sg_endpoint *endpoint, bool waiting,
                            struct sg_endpoint_reply *out);

#endif
