/* Layout of the memory that the processes of a machine share and that each of them registers: for
 * each endpoint of the machine its control, its channels and its buffers. The layout follows from
 * the setup alone, so an offset means the same on every machine.
 *
 * A channel joins two endpoints, both ways. One RDMA write puts a message into the receiver's ring,
 * from a mirror of that ring in the sender's memory. The place of a message is written again only
 * when the receiver has reported that it has taken it, and by then the adapter has long read the
 * mirror.
 *
 * A message has a number, which determines its place. The receiver checks only the place of the
 * next one, and takes the message there if its hash is right: it needs no order among the bytes of
 * a write, and no order among writes of several processes of the sender.
 */
#ifndef SG_TRANSPORT_VERBS_VERBS_LAYOUT_H
#define SG_TRANSPORT_VERBS_VERBS_LAYOUT_H

#include "transport/payload.h"

#include <stdatomic.h>

/* The receiver reads larger payload from the sender's memory. */
#define SG_VERBS_INLINE_MAX 1088
#define SG_VERBS_INLINE_MIN 192
/* Size of an endpoint's channels above which their messages get smaller. */
#define SG_VERBS_CHANNELS_BYTES ((size_t)16 << 20)
/* Places in addition to those for messages, for multicasts along the tree. */
#define SG_VERBS_FORWARDED 8
/* Children of an endpoint in the tree of multicasts. */
#define SG_VERBS_TREE_DEGREE 4
/* Connected processes of an endpoint. */
#define SG_VERBS_SERVERS_MAX 64
#define SG_VERBS_HELD_MAX 64    /* messages that a receiver may hold: bits of a word */
#define SG_VERBS_FETCHES_MAX 16 /* and of those, messages with fetched payload */
#define SG_VERBS_ENDPOINTS_MAX (1 << 23)
#define SG_VERBS_INFLIGHT_MAX 4096
#define SG_VERBS_EAGER_MAX (1 << 24)

enum sg_verbs_entry_kind {
    SG_VERBS_MESSAGE = 1,
    SG_VERBS_FORWARD /* a multicast forwarded along the tree */
};

/* A message in a ring; written up to the end of its payload. */
struct sg_verbs_entry {
    uint64_t hash;           /* of all following bytes */
    _Atomic uint64_t number; /* in its channel and direction, from 1 */
    uint64_t taken;          /* last number that this message's sender has taken */
    uint64_t protocol;
    uint32_t payload_bytes;
    uint32_t stage; /* 1 + the sender's buffer with the payload; 0: payload is in this entry */
    int32_t from;   /* origin of a FORWARD */
    uint8_t kind;   /* enum sg_verbs_entry_kind */
    uint8_t solicited;
    uint16_t reserved;
    uint64_t reserved2[2];
    struct sg_header header;
    unsigned char payload[];
};

_Static_assert(sizeof(struct sg_verbs_entry) % SG_TRANSPORT_PART_ALIGN == 0, "parts");

_Static_assert(sizeof(struct sg_header) % 8 == 0, "hashed in words");

/* Both directions of a channel, as this endpoint's processes see them. */
struct sg_verbs_channel {
    /* Sending: */
    uint64_t sent;      /* last number sent */
    uint64_t freed;     /* last number known to be taken by the other endpoint */
    uint32_t forwarded; /* FORWARDs among the messages in between */
    uint32_t reserved;
    /* Receiving: */
    _Atomic uint64_t scanned; /* last number up to which all messages are complete */
    _Atomic uint64_t taken;
    uint32_t due;     /* taken since the last report to the other endpoint */
    uint32_t fetch;   /* 1 + buffer for the next message's fetched payload */
    uint32_t fetched; /* 1: the payload has arrived */
    uint32_t reserved2;
};

/* Reports of `taken` without a message in the other direction: each process of the other endpoint
 * writes a separate word of `told` here, from its word of `telling`. tried and trying: likewise for
 * tests of links. */
struct sg_verbs_told {
    _Atomic uint64_t told[SG_VERBS_SERVERS_MAX], telling[SG_VERBS_SERVERS_MAX];
    uint64_t tried[SG_VERBS_SERVERS_MAX], trying[SG_VERBS_SERVERS_MAX];
};

/* The multicasts received from one sender: number `highest` and, by bits, those before it. */
struct sg_verbs_seen {
    uint64_t highest, before;
};

/* An endpoint's own state, under its lock; followed by struct sg_verbs_seen, by sender, and the
 * channels. */
struct sg_verbs_endpoint {
    uint64_t multicasts_sent; /* multicasts */
    uint64_t held;            /* bits: buffers of held copies */
    uint64_t fetching;        /* bits: buffers that are being read into, or held */
    uint32_t next_channel;    /* first channel to check next, so that none starves */
    uint32_t turn;            /* odd: multicasts first */
    uint64_t reserved[4];
};

_Static_assert(sizeof(struct sg_verbs_endpoint) == SG_TRANSPORT_LINE_BYTES, "endpoint");

struct sg_verbs_header {
    _Atomic uint64_t signature; /* the setup's, never 0; the first process to open writes it */
    uint64_t reserved[7];
};

/* Offsets in an endpoint's part, except for the last two members. */
struct sg_verbs_layout {
    uint32_t channels;     /* limit for an endpoint */
    uint32_t message_room; /* limit of a channel's messages not yet reported as taken */
    uint32_t places;       /* in a ring */
    uint32_t inline_bytes; /* largest payload in an entry */
    uint32_t note_after;   /* messages taken before the receiver reports them */
    uint32_t stages, held, fetches;
    uint32_t stage_words;
    size_t entry_bytes, payload_bytes;
    size_t seen_at, channels_at, told_at, stages_used_at, rings_at, mirrors_at, held_at, stages_at,
        fetches_at;
    size_t endpoint_bytes, bytes;
};

/* False: the setup is not possible. */
bool sg_verbs_lay_out(const struct sg_transport_setup *setup, struct sg_verbs_layout *layout);
/* Identifies the inputs of the layout; never 0. */
uint64_t sg_verbs_signature(const struct sg_transport_setup *setup);

#endif
