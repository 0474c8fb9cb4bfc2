/* Messages by channels, written into the other endpoint's ring and found in this endpoint's own;
 * and requests to queue pairs, with their completions. */
#ifndef SG_TRANSPORT_VERBS_VERBS_CHANNEL_H
#define SG_TRANSPORT_VERBS_VERBS_CHANNEL_H

#include "transport/verbs/verbs_state.h"

/* The content of one message: payload as parts, or already laid out in `payload` (send->parts
 * unused). */
struct sg_verbs_content {
    enum sg_verbs_entry_kind kind;
    const struct sg_transport_send *send;
    const void *payload; /* replaces send->parts */
    int32_t from;
};

bool sg_verbs_put(struct sg_transport *transport, uint32_t channel,
                  const struct sg_verbs_content *content);
/* came_by: the endpoint at the other end of a multicast's channel; the multicast is forwarded to
 * the other neighbours. */
bool sg_verbs_channel_receive(struct sg_transport *transport, struct sg_transport_message *out,
                              int32_t *came_by);
void sg_verbs_channel_release(struct sg_transport *transport,
                              const struct sg_transport_message *message);
bool sg_verbs_channel_pending(const struct sg_transport *transport);
/* Handles the completion of the channel's fetch. */
void sg_verbs_channel_fetched(struct sg_transport *transport, uint32_t channel);

/* Requests to queue pairs, and their completions. */

/* Requests that need no completion: one in this many gets one. */
#define SG_VERBS_SIGNAL_EVERY 16
/* Capacity of a send queue for accesses and fetches, in addition to all messages of its channel. */
#define SG_VERBS_QUEUE_SPARE 64u
/* Capacity of a process for datagrams, received and sent. */
#define SG_VERBS_DATAGRAMS 128u

/* The number of a request, from the top: kind (8 bits), link (16), an index of that kind (16) and
 * the low bits of the link's count of requests. */
enum sg_verbs_request {
    SG_VERBS_OF_ENTRY = 1,
    SG_VERBS_OF_ACCESS, /* index: in accesses */
    SG_VERBS_OF_FETCH,
    SG_VERBS_OF_PROBE,
    SG_VERBS_OF_DATAGRAM,
    SG_VERBS_OF_DOORBELL, /* received: a solicited message has arrived */
    SG_VERBS_OF_RECEIVED  /* a received datagram; index: its buffer */
};

/* Handlers of completions, by kind. */
struct sg_verbs_completed {
    void (*access)(struct sg_transport *transport, uint32_t index);
    void (*fetch)(struct sg_transport *transport, uint32_t channel);
    void (*datagram)(struct sg_transport *transport, uint32_t buffer, uint32_t bytes);
};

/* True if the queue can take a request now. */
bool sg_verbs_has_room(struct sg_transport *transport, struct sg_verbs_link *link);
/* Precondition: sg_verbs_has_room. A request of an entry may be posted without completion. */
void sg_verbs_post_request(struct sg_transport *transport, struct sg_verbs_link *link,
                           struct ibv_send_wr *request, enum sg_verbs_request kind, uint32_t index);
/* Polls and handles completions. */
void sg_verbs_poll(struct sg_transport *transport);
/* The function `probe` of struct sg_transport_remote_ops. */
void sg_verbs_probe(struct sg_transport *transport);
/* Records a fault; the first one stays. */
void sg_verbs_fail(struct sg_transport *transport, struct sg_transport_fault fault);

static inline bool sg_verbs_has_failed(const struct sg_transport *transport)
{
    /* Relaxed: fault_is_told orders reads of the fault itself. */
    return atomic_load_explicit(&transport->has_failed, memory_order_relaxed);
}

#endif
