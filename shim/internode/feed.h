/* Feeds events to protocols: CALLs in their turn, messages, timers, replies, watched cells. The
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
void sg_span_feed(struct sg_span *span, uint32_t object, struct sg_event *event, const void *parts);

/* One after another, each when the one before it has its COMPLETE. */
void sg_span_feed_calls(struct sg_span *span);

/* The REPLY to an access that was LATER. */
void sg_span_feed_answer(struct sg_span *span, const struct sg_transport_message *message);

/* Replies that waited for this poll; watches whose cells have changed. How many events others may
 * wait for. */
int sg_span_feed_waiting(struct sg_span *span);
int sg_span_feed_watches(struct sg_span *span);

/* No CALL will come. */
void sg_span_feed_drain(struct sg_span *span);

#endif
