/* Messages by channels: written into the other endpoint's ring, found in this endpoint's own. */
#ifndef SG_TRANSPORT_VERBS_VERBS_CHANNEL_H
#define SG_TRANSPORT_VERBS_VERBS_CHANNEL_H

#include "transport/verbs/verbs_state.h"

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

/* Requests to queue pairs, and what completes them. */

/* Of requests that need no completion, so many are without one between two that have one. */
#define SG_VERBS_SIGNAL_EVERY 16
/* Accesses and fetches that a send queue has room for, in addition to all messages of its channel.
 */
#define SG_VERBS_QUEUE_SPARE 64u
/* Received and sent, that a process has room for. */
#define SG_VERBS_DATAGRAMS 128u

/* A completion's source: in the highest byte of its request's number the kind; then the link (16
 * bits), an index of that kind (16) and the low bits of the link's count of requests. */
enum sg_verbs_request {
    SG_VERBS_OF_ENTRY = 1,
    SG_VERBS_OF_ACCESS, /* index: in accesses */
    SG_VERBS_OF_FETCH,
    SG_VERBS_OF_PROBE,
    SG_VERBS_OF_DATAGRAM,
    SG_VERBS_OF_DOORBELL, /* received: a solicited message is there */
    SG_VERBS_OF_RECEIVED  /* a datagram; index: its buffer */
};

/* Who is told of what has been completed, by its kind. */
struct sg_verbs_completed {
    void (*access)(struct sg_transport *transport, uint32_t index);
    void (*fetch)(struct sg_transport *transport, uint32_t channel);
    void (*datagram)(struct sg_transport *transport, uint32_t buffer, uint32_t bytes);
};

/* Whether a request may be posted now. */
bool sg_verbs_has_room(struct sg_transport *transport, struct sg_verbs_link *link);
/* There is room. A request of an entry may go without completion. */
void sg_verbs_post_request(struct sg_transport *transport, struct sg_verbs_link *link,
                           struct ibv_send_wr *request, enum sg_verbs_request kind, uint32_t index);
/* Takes what has been completed. */
void sg_verbs_poll(struct sg_transport *transport);
/* As `probe` of struct sg_transport_remote_ops. */
void sg_verbs_probe(struct sg_transport *transport);
/* The first one stays. */
void sg_verbs_fail(struct sg_transport *transport, struct sg_transport_fault fault);

static inline bool sg_verbs_has_failed(const struct sg_transport *transport)
{
    /* Relaxed: the fault itself is read by way of fault_is_told. */
    return atomic_load_explicit(&transport->has_failed, memory_order_relaxed);
}

#endif
