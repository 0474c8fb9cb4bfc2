/* Layout of the shared memory of the transport `shm`.
 *
 *   header        its setup; the doorbell, rung at every multicast
 *   tails         per endpoint: the number of multicasts it has sent
 *   endpoints     per receiver: senders that may have messages for it, and its own state
 *   stages_used   per sender: its buffers in use
 *   channels      per (receiver, sender): `inflight` messages of fixed size
 *   stages        per sender: buffers for payload that does not fit into a channel's message
 *   multicasts    per sender: its last multicasts, each overwritten by a later one
 *   copies        per receiver: the multicasts that it holds
 *
 * Offsets and indices only: it is mapped at any address. Zeroed memory is its initial state. Every
 * word has one endpoint that writes it, except the bits that sender and receiver set and clear by
 * atomic operations; so a killed process cannot keep a claim from the others.
 */
#ifndef SG_TRANSPORT_SHM_SHM_LAYOUT_H
#define SG_TRANSPORT_SHM_SHM_LAYOUT_H

#include "transport/payload.h"

#include <stdatomic.h>

#define SG_SHM_INLINE_BYTES 144
/* Multicasts of one sender by which a receiver may fall behind before it misses some. */
#ifndef SG_SHM_MULTICASTS /* tests define fewer */
#define SG_SHM_MULTICASTS 8
#endif
#define SG_SHM_ENDPOINTS_MAX 4096
#define SG_SHM_INFLIGHT_MAX 4096
#define SG_SHM_EAGER_MAX (1 << 24)

struct sg_shm_header {
    _Atomic uint64_t signature; /* the setup's, never 0; the first process to open writes it */
    unsigned char reserved[SG_TRANSPORT_LINE_BYTES - 8];
    _Atomic uint64_t doorbell;
    unsigned char reserved2[SG_TRANSPORT_LINE_BYTES - 8];
};

/* A receiver's own state, after its words of senders and before its cursors. */
struct sg_shm_receiver {
    _Atomic uint64_t doorbell_seen; /* doorbell up to which all multicasts have been looked at */
    _Atomic uint64_t copies_held;   /* one bit each */
    uint32_t next_sender;           /* first channel to check next, so that none starves */
    uint32_t next_multicast;
    uint32_t turn; /* odd: multicasts first */
    unsigned char reserved[SG_TRANSPORT_LINE_BYTES - 28];
};

struct sg_shm_entry {
    uint64_t protocol;
    struct sg_header header;
    uint32_t stage; /* 1 + the sender's buffer with the payload; 0: payload is in this entry */
    uint32_t solicited;
    unsigned char payload[SG_SHM_INLINE_BYTES];
};

/* A multicast. Its words are atomic because a receiver may read them while they are overwritten. */
struct sg_shm_multicast {
    _Atomic uint64_t sequence; /* 2 * (number + 1); less 1 while it is written */
    _Atomic uint64_t header[sizeof(struct sg_header) / 8];
    _Atomic uint64_t protocol;
    _Atomic uint64_t solicited;
    unsigned char reserved[SG_TRANSPORT_LINE_BYTES - 24 - sizeof(struct sg_header)];
    _Atomic uint64_t payload[];
};

_Static_assert(sizeof(struct sg_shm_header) == 2 * SG_TRANSPORT_LINE_BYTES, "header");

_Static_assert(sizeof(struct sg_shm_receiver) == SG_TRANSPORT_LINE_BYTES, "receiver");

_Static_assert(sizeof(struct sg_shm_entry) == 3 * SG_TRANSPORT_LINE_BYTES, "entry");

_Static_assert(sizeof(struct sg_shm_multicast) == SG_TRANSPORT_LINE_BYTES, "multicast");

_Static_assert(sizeof(struct sg_header) % 8 == 0, "copied in words");

_Static_assert(offsetof(struct sg_shm_entry, payload) % SG_TRANSPORT_PART_ALIGN == 0, "parts");

struct sg_transport {
    struct sg_transport_setup setup;
    unsigned char *base;
    uint32_t endpoint_words, channel_words, stage_words; /* of 64 bits */
    size_t payload_bytes;                                /* of a stage, a multicast or a copy */
    size_t channel_sender_bytes, channel_control_bytes, channel_bytes, endpoint_bytes;
    size_t tails_at, endpoints_at, stages_used_at, channels_at, stages_at, multicasts_at, copies_at,
        bytes;
};

static inline struct sg_shm_header *sg_shm_header(const struct sg_transport *transport)
{
    return (struct sg_shm_header *)transport->base;
}

static inline _Atomic uint64_t *sg_shm_tails(const struct sg_transport *transport)
{
    return (_Atomic uint64_t *)(transport->base + transport->tails_at);
}

/* Words with a bit for each sender whose channel to `receiver` may have messages. */
static inline _Atomic uint64_t *sg_shm_senders(const struct sg_transport *transport, int receiver)
{
    return (_Atomic uint64_t *)(transport->base + transport->endpoints_at +
                                (size_t)receiver * transport->endpoint_bytes);
}

static inline struct sg_shm_receiver *sg_shm_receiver(const struct sg_transport *transport,
                                                      int receiver)
{
    return (struct sg_shm_receiver *)((unsigned char *)sg_shm_senders(transport, receiver) +
                                      sg_transport_round(transport->endpoint_words * 8u,
                                                         SG_TRANSPORT_LINE_BYTES));
}

/* Per sender: the number of the next multicast to read. */
static inline _Atomic uint64_t *sg_shm_cursors(const struct sg_transport *transport, int receiver)
{
    return (_Atomic uint64_t *)(sg_shm_receiver(transport, receiver) + 1);
}

static inline _Atomic uint64_t *sg_shm_stages_used(const struct sg_transport *transport, int sender)
{
    return (_Atomic uint64_t *)(transport->base + transport->stages_used_at +
                                (size_t)sender * sg_transport_round(transport->stage_words * 8u,
                                                                    SG_TRANSPORT_LINE_BYTES));
}

static inline unsigned char *sg_shm_stage(const struct sg_transport *transport, int sender,
                                          uint32_t index)
{
    return transport->base + transport->stages_at +
           ((size_t)sender * transport->setup.staged + index) * transport->payload_bytes;
}

static inline struct sg_shm_multicast *sg_shm_multicast(const struct sg_transport *transport,
                                                        int sender, uint64_t number)
{
    return (struct sg_shm_multicast *)(transport->base + transport->multicasts_at +
                                       ((size_t)sender * SG_SHM_MULTICASTS +
                                        number % SG_SHM_MULTICASTS) *
                                           (sizeof(struct sg_shm_multicast) +
                                            transport->payload_bytes));
}

static inline unsigned char *sg_shm_copy(const struct sg_transport *transport, int receiver,
                                         uint32_t index)
{
    return transport->base + transport->copies_at +
           ((size_t)receiver * SG_TRANSPORT_HELD + index) * transport->payload_bytes;
}

/* ---- channels: shm.c ------------------------------------------------------------------------ */

enum sg_transport_result sg_shm_channel_send(struct sg_transport *transport, int self, int to,
                                             const struct sg_transport_send *send);
bool sg_shm_channel_receive(struct sg_transport *transport, int self,
                            struct sg_transport_message *out);
void sg_shm_channel_release(struct sg_transport *transport, int self,
                            const struct sg_transport_message *message);
bool sg_shm_channel_pending(const struct sg_transport *transport, int self);

/* ---- multicasts: shm.c ---------------------------------------------------------------------- */

void sg_shm_multicast_send(struct sg_transport *transport, int self,
                           const struct sg_transport_send *send);
bool sg_shm_multicast_receive(struct sg_transport *transport, int self,
                              struct sg_transport_message *out);
void sg_shm_multicast_release(struct sg_transport *transport, int self,
                              const struct sg_transport_message *message);
bool sg_shm_multicast_pending(const struct sg_transport *transport, int self);

#endif
