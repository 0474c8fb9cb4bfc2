/* Multicasts by datagrams: set-up, sending and receiving. */
#ifndef SG_TRANSPORT_VERBS_VERBS_MULTICAST_H
#define SG_TRANSPORT_VERBS_VERBS_MULTICAST_H

#include "transport/verbs/verbs_channel.h"
#include "transport/verbs/verbs_device.h"

#define SG_VERBS_SENDS 64u
#define SG_VERBS_RECEIVES (SG_VERBS_DATAGRAMS - SG_VERBS_SENDS)
#define SG_VERBS_GRH_BYTES 40 /* bytes before a received datagram's first byte */
#define SG_VERBS_DATAGRAM_BYTES 4096u
#define SG_VERBS_RECEIVE_BYTES (SG_VERBS_DATAGRAM_BYTES + SG_TRANSPORT_LINE_BYTES)
/* Messages that are incomplete, wait to be received, or are held. */
#define SG_VERBS_ASSEMBLIES 12

struct sg_verbs_piece {
    uint64_t communicator; /* drawn by rank 0: other communicators may use the same group */
    uint64_t number;       /* among its sender's multicasts, from 1 */
    uint64_t protocol;
    int32_t from;
    uint32_t at, bytes; /* offset of this piece in the payload; bytes of the whole payload */
    uint32_t solicited;
    struct sg_header header;
    unsigned char payload[];
};

_Static_assert((SG_VERBS_GRH_BYTES + sizeof(struct sg_verbs_piece)) % 8 == 0, "words");

enum { SG_VERBS_FREE, SG_VERBS_PARTIAL, SG_VERBS_WHOLE, SG_VERBS_HELD };

struct sg_verbs_assembly {
    int state;
    uint64_t order; /* order in which first pieces arrived */
    uint64_t number, protocol;
    int32_t from;
    uint32_t missing; /* bytes */
    bool solicited;
    struct sg_header header;
    uint64_t *came; /* one bit for each piece */
    unsigned char *payload;
};

struct sg_verbs_multicast {
    struct sg_verbs_group group;
    struct ibv_qp *pair;
    struct ibv_ah *address;
    struct sg_verbs_link link;
    uint64_t communicator;
    uint32_t piece_bytes; /* payload of a datagram */
    unsigned char *sends, *receives;
    uint32_t next_receive; /* buffer of the next datagram */
    uint64_t orders;
    _Atomic uint32_t whole; /* relaxed: pending() is only a hint */
    size_t came_words;
    struct sg_verbs_assembly assemblies[SG_VERBS_ASSEMBLIES];
};

/* Bytes that it needs of transport->own, after SG_VERBS_ACCESS_BYTES. */
size_t sg_verbs_multicast_bytes(void);
/* Collective over the exchange. SG_OK also if multicast is unavailable: then on all ranks, and one
 * rank has logged why, unless it is switched off. */
enum sg_status sg_verbs_multicast_open(struct sg_transport *transport);
void sg_verbs_multicast_close(struct sg_transport *transport);
void sg_verbs_multicast_send(struct sg_transport *transport, const struct sg_transport_send *send);
bool sg_verbs_multicast_receive(struct sg_transport *transport, struct sg_transport_message *out);
void sg_verbs_multicast_release(struct sg_transport *transport,
                                const struct sg_transport_message *message);
bool sg_verbs_multicast_pending(const struct sg_transport *transport);
/* Handles a completion: a datagram is in its buffer. */
void sg_verbs_multicast_came(struct sg_transport *transport, uint32_t buffer, uint32_t bytes);

#endif
