/* Messages by channels: written into the other endpoint's ring, found in this endpoint's own. */
#ifndef SG_TRANSPORT_VERBS_CHANNEL_H
#define SG_TRANSPORT_VERBS_CHANNEL_H

#include "transport/verbs/state.h"

/* What is sent by a channel: payload as parts, or as it lies (bytes of it, parts NULL). */
struct sg_verbs_content {
    enum sg_verbs_entry_kind kind;
    const struct sg_transport_send *send;
    const void *payload; /* in place of send->parts */
    int32_t from;
};

bool sg_verbs_put(struct sg_transport *transport, uint32_t channel,
                  const struct sg_verbs_content *content);
/* came_by: the endpoint whose channel a multicast came by; it goes on to the other neighbours. */
bool sg_verbs_channel_receive(struct sg_transport *transport, struct sg_transport_message *out,
                              int32_t *came_by);
void sg_verbs_channel_release(struct sg_transport *transport,
                              const struct sg_transport_message *message);
bool sg_verbs_channel_pending(const struct sg_transport *transport);
/* Completed: a fetch of the channel. */
void sg_verbs_channel_fetched(struct sg_transport *transport, uint32_t channel);

#endif
