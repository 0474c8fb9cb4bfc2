/* Carries out a protocol's actions: the live host of shim/algos/algo.h. What protocols wait for
 * without a message is kept here, too: replies to accesses, watched cells, timers.
 *
 * Everything runs under the endpoint's lock, in an application's thread, the progress thread or a
 * signal handler: no malloc, no stdio, no MPI.
 */
#ifndef SG_INTERNODE_HOST_H
#define SG_INTERNODE_HOST_H

#include "internode/communicator.h"

/* The event whose actions they are. */
struct sg_span_feeding {
    struct sg_span *span;
    uint32_t object;
    const struct sg_event *event;
    const unsigned char *parts; /* of a message */
};

void sg_span_carry_out(const struct sg_span_feeding *feeding, const struct sg_actions *actions);

/* The next reply that waits, or does not wait, for the next poll. False: none. */
bool sg_span_take_reply(struct sg_span_endpoint *endpoint, bool waiting, struct sg_span_reply *out);

#endif
