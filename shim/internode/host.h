/* Carries out a protocol's actions: the live host of shim/algos/algo.h. It also keeps what
 * protocols wait for without a message: replies to accesses, watched cells, timers.
 *
 * Everything runs under the endpoint's lock, in an application's thread, the progress thread or a
 * signal handler: no malloc, no stdio, no MPI.
 */
#ifndef SG_INTERNODE_HOST_H
#define SG_INTERNODE_HOST_H

#include "internode/delivery.h"

void sg_internode_carry_out(struct sg_delivery *delivery, const struct sg_actions *actions);

/* The next reply that waits for the next poll, or does not. False: none. */
bool sg_endpoint_take_reply(struct sg_endpoint *endpoint, bool waiting,
                            struct sg_endpoint_reply *out);

#endif
