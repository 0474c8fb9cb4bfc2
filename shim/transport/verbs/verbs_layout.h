/* What lies where in the memory that the processes of a machine share and that each of them
 * registers: for each endpoint of the machine its control, its channels and its buffers. The layout
 * follows from the setup alone, so an offset means the same on every machine.
 *
 * A channel joins two endpoints, both ways. A message is written into the ring of the receiver by
 * one RDMA write, from a mirror of that ring in the sender's memory: the place of a message is
 * written again only when the receiver has reported that it has taken it, and by then the adapter
 * has long read the mirror.
 *
 * A message has a number, which determines its place. The receiver checks only the place of the
 * next one, and takes what it finds there when its hash is right: it needs no order among the bytes
 * of a write, and no order among writes of several processes of the sender.
 */
#ifndef SG_TRANSPORT_VERBS_VERBS_LAYOUT_H
#define SG_TRANSPORT_VERBS_VERBS_LAYOUT_H

#include "transport/payload.h"

#include <stdatomic.h>

/* Payload beyond this is read from the sender's memory by its receiver. */
#define SG_VERBS_INLINE_MAX 1088
#define SG_VERBS_INLINE_MIN 192
/* What the channels of an endpoint take before their messages get smaller. */
#define SG_VERBS_CHANNELS_BYTES ((size_t)16 << 20)
/* Places beside those for messages: multicasts along the tree. */
#define SG_VERBS_FORWARDED 8
/* So many endpoints, or fewer, may each be connected to every one of them. */
#define SG_VERBS_ALL_CONNECTED 64
/* Processes of an endpoint that are connected. */
#define SG_VERBS_SERVERS_MAX 64
#define SG_VERBS_HELD_MAX 64    /* messages that a receiver may hold: bits of a word */
#define SG_VERBS_FETCHES_MAX 16 /* and of those, ones with payload that was read */
#define SG_VERBS_ENDPOINTS_MAX 65536
#define SG_VERBS_INFLIGHT_MAX 4096
#define SG_VERBS_EAGER_MAX (1 << 24)

enum sg_verbs_entry_kind {
    SG_VERBS_MESSAGE = 1,
    SG_VERBS_FORWARD /* a multicast on its way along the tree */
};

/* A message in a ring; written up to the end of its payload. */
struct sg_verbs_entry {
    uint64_t hash;           /* of all that follows */
    _Atomic uint64_t number; /* of the channel and direction, from 1 */
    uint64_t taken;          /* the last number that the sender of this has taken */
    uint64_t protocol;
    uint32_t payload_bytes;
    uint32_t stage; /* number + 1 of the sender's buffer with the payload; 0: it is here */
    int32_t from;   /* of FORWARD: its origin */
    uint8_t kind;   /* enum sg_verbs_entry_kind */
    uint8_t solicited;
    uint16_t reserved;
    uint64_t reserved2[2];
    struct sg_header header;
    unsigned char payload[];
};

_Static_assert(sizeof(struct sg_verbs_entry) % SG_TRANSPORT_PART_ALIGN == 0, "parts");

_Static_assert(sizeof(struct sg_header) % 8 == 0, "hashed in words");

/* Both directions of a channel, as this endpoint's processes know them. */
struct sg_verbs_channel {
    /* Of what is sent. */
    uint64_t sent;      /* numbers */
    uint64_t freed;     /* up to here the other endpoint has taken them */
    uint32_t forwarded; /* FORWARDs among those between */
    uint32_t reserved;
    /* Of what is received. */
    _Atomic uint64_t scanned; /* up to here all has been found whole */
    _Atomic uint64_t taken;
    uint32_t due;     /* taken since the other endpoint has been told */
    uint32_t fetch;   /* number + 1 of the buffer that the next message's payload is read into */
    uint32_t fetched; /* 1: it is there */
    uint32_t reserved2;
};

/* What is told of `taken` where no message goes the other way: each process of the other endpoint
 * writes a word of its own here, out of its word of `telling`. Likewise the words that links are
 * tried with. */
struct sg_verbs_told {
    _Atomic uint64_t told[SG_VERBS_SERVERS_MAX], telling[SG_VERBS_SERVERS_MAX];
    uint64_t tried[SG_VERBS_SERVERS_MAX], trying[SG_VERBS_SERVERS_MAX];
};

/* The multicasts of one sender that have been received: number `highest` and, by bits, those
 * before it. */
struct sg_verbs_seen {
    uint64_t highest, before;
};

/* An endpoint's own, under its lock; then, by sender, struct sg_verbs_seen, then the channels. */
struct sg_verbs_endpoint {
    uint64_t multicasts_sent; /* multicasts */
    uint64_t held;            /* bits */
    uint64_t fetching;        /* bits: buffers that are read into, or held */
    uint32_t next_channel;    /* looked at from here on, that none starves */
    uint32_t turn;            /* odd: multicasts first */
    uint64_t reserved[4];
};

_Static_assert(sizeof(struct sg_verbs_endpoint) == SG_TRANSPORT_LINE_BYTES, "endpoint");

struct sg_verbs_header {
    _Atomic uint64_t signature; /* of the setup, never 0; the first to open writes it */
    uint64_t reserved[7];
};

/* Offsets in an endpoint's part, but for the last two. */
struct sg_verbs_layout {
    uint32_t channels;     /* an endpoint's most */
    uint32_t message_room; /* of a channel; counts what the other side has not told yet, too */
    uint32_t places;       /* of a ring */
    uint32_t inline_bytes; /* the most payload in an entry */
    uint32_t note_after;   /* messages taken before the sender is told so */
    uint32_t stages, held, fetches;
    uint32_t stage_words;
    size_t entry_bytes, payload_bytes;
    size_t seen_at, channels_at, told_at, stages_used_at, rings_at, mirrors_at, held_at, stages_at,
        fetches_at;
    size_t endpoint_bytes, bytes;
};

/* False: such a setup is not possible. */
bool sg_verbs_lay_out(const struct sg_transport_setup *setup, struct sg_verbs_layout *layout);
/* Of all that the layout follows from; never 0. */
uint64_t sg_verbs_signature(const struct sg_transport_setup *setup);

#endif
