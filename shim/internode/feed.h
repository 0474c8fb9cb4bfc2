/* Delivers events to protocols: CALLs in their turn, messages, timers, replies, watched cells. The
 * actions that follow are host.h's.
 *
 * Everything runs under the endpoint's lock, in an application's thread, the progress thread or a
 * signal handler: no malloc, no stdio, no MPI.
 */
#ifndef SG_INTERNODE_FEED_H
#define SG_INTERNODE_FEED_H

#include "internode/communicator.h"

/* One event, the replies that its actions get at once, and the CALLs whose turn has come. parts: of
 * a message. */
void sg_endpoint_deliver_event(struct sg_internode *internode, uint32_t protocol,
                               struct sg_event *event, const void *parts);

/* One after another, each when the one before it has its COMPLETE. */
void sg_endpoint_deliver_calls(struct sg_internode *internode);

/* The REPLY to an access that was LATER. */
void sg_endpoint_deliver_answer(struct sg_internode *internode,
                                const struct sg_transport_message *message);

/* Replies that waited for this poll; watches whose cells have changed. How many events others may
 * wait for. */
int sg_endpoint_deliver_waiting(struct sg_internode *internode);
int sg_endpoint_deliver_watches(struct sg_internode *internode);

/* No CALL will come. */
void sg_endpoint_deliver_drain(struct sg_internode *internode);

#endif
