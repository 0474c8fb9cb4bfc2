/* Delivers events to protocols: CALLs in their turn, messages, timers, replies, watched cells.
 * host.h carries out the actions that follow.
 *
 * Everything runs under the endpoint's lock, in an application's thread, the progress thread or a
 * signal handler: no malloc, no stdio, no MPI.
 */
#ifndef SG_INTERNODE_FEED_H
#define SG_INTERNODE_FEED_H

#include "internode/communicator.h"

/* One event, the replies to accesses that are done at once, and the CALLs whose turn has come.
 * parts: of a message. */
void sg_endpoint_deliver_event(struct sg_internode *internode, uint32_t protocol,
                               struct sg_event *event, const void *parts);

/* One after another, each after the COMPLETE of the one before. */
void sg_endpoint_deliver_calls(struct sg_internode *internode);

/* The REPLY to an access that returned LATER. */
void sg_endpoint_deliver_answer(struct sg_internode *internode,
                                const struct sg_transport_message *message);

/* Replies that waited for this poll; watches whose cells have changed. Returns the number of events
 * that others may wait for. */
int sg_endpoint_deliver_waiting(struct sg_internode *internode);
int sg_endpoint_deliver_watches(struct sg_internode *internode);

/* No CALL will come. */
void sg_endpoint_deliver_drain(struct sg_internode *internode);

#endif
