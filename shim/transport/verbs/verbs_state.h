/* The state of one communicator's transport in this process, and its addresses in the memory that
 * the processes of a machine share. */
#ifndef SG_TRANSPORT_VERBS_VERBS_STATE_H
#define SG_TRANSPORT_VERBS_VERBS_STATE_H

#include "core/hash.h"
#include "transport/verbs/verbs_device.h"
#include "transport/verbs/verbs_layout.h"

/* Outstanding one-sided requests of this process, and the size of their staging memory. */
#define SG_VERBS_ACCESSES 128
#define SG_VERBS_ACCESS_BYTES ((size_t)4 * SG_TRANSPORT_ACCESS_BYTES)

/* A process's data for those that it is connected to. */
struct sg_verbs_process {
    uint64_t memory; /* address of the shared memory in that process */
    union ibv_gid gid;
    uint32_t key;
    uint16_t lid;
    uint8_t mtu, reads; /* enum ibv_mtu; RDMA reads that it answers concurrently */
    uint8_t is_ethernet;
    uint8_t reserved[7];
};

/* Identifies a queue pair for the process at its other end. */
struct sg_verbs_ticket {
    struct sg_verbs_process process;
    uint32_t channel, number;
    uint32_t trial; /* number of the queue pair for the link's test */
};

/* A queue pair. */
struct sg_verbs_link {
    struct ibv_qp *pair;
    uint32_t channel;
    int32_t peer;
    int32_t rank;    /* in the exchange, of the other end */
    uint64_t memory; /* address of the other end's memory */
    uint32_t key;
    uint32_t inline_bytes;
    uint32_t depth;             /* of its send queue */
    uint32_t posted, reclaimed; /* numbers of requests */
    uint32_t quiet;             /* requests since the last one with a completion */
    uint32_t reads;             /* outstanding reads, including atomic operations */
    bool is_probed;
};

/* An endpoint's address: the first link of its channel. */
struct sg_verbs_peer {
    int32_t endpoint, index, servers;
    uint32_t channel; /* the channel's number there */
    uint32_t link;
};

struct sg_verbs_access {
    uint8_t state; /* as in access.c */
    bool reads;    /* it has an answer, which is a REPLY unless `again` */
    bool again;    /* repeats a read that returned incomplete data */
    uint32_t channel, tag;
    uint32_t words; /* in the REPLY's value */
    uint32_t bytes; /* to copy from the staging memory to `local` */
    void *local;
    uint64_t protocol;
    size_t staged_at, staged_end; /* counted from open, modulo the ring's size */
};

/* An entry of the table in which channels are found by their endpoints. */
struct sg_verbs_known {
    int32_t endpoint;
    uint32_t channel; /* + 1; 0: the entry is free */
};

struct sg_verbs_multicast;

struct sg_verbs_completed;

struct sg_transport {
    struct sg_transport_setup setup;
    struct sg_transport_location location;
    struct sg_verbs_layout layout;
    unsigned char *base;   /* `shared` of open */
    size_t base_at;        /* offset in the location's memory */
    struct ibv_mr *memory; /* the location's */
    unsigned char *own;    /* private to this process, registered: staging, datagrams */
    size_t own_bytes;
    struct ibv_mr *own_region;
    struct ibv_comp_channel *completion_channel;
    struct ibv_cq *queue; /* for all completions */
    const struct sg_verbs_completed *completed;
    struct ibv_srq *doorbells; /* receive requests, one for each solicited message */
    uint32_t doorbells_missing;
    struct sg_verbs_process process; /* this one */
    enum ibv_mtu mtu;                /* the least of all processes */
    struct sg_verbs_known *known;    /* channels, by hash */
    uint32_t known_room;             /* a power of two, more than twice the channels */
    struct sg_verbs_peer *peers;     /* by channel */
    struct sg_verbs_link *links;
    uint32_t links_max, link_depth;
    _Atomic uint32_t channel_count;
    _Atomic uint32_t link_count;
    struct sg_verbs_access accesses[SG_VERBS_ACCESSES];
    uint32_t access_first, access_count; /* a ring, in issue order */
    size_t staged_from, staged_to;
    uint32_t replies;                     /* not received yet */
    uint32_t again;                       /* accesses with `again` */
    uint32_t looks;                       /* looks at incomplete data */
    uint32_t open;                        /* outstanding accesses and fetches */
    _Atomic uint32_t awaited;             /* these and probes: requests with awaited completions */
    struct sg_verbs_multicast *multicast; /* NULL: multicasts use the tree */
    struct sg_verbs_link *multicast_link; /* ... its link */
    _Atomic uint32_t multicasts_held;     /* of either kind; relaxed: pending() is only a hint */
    _Atomic bool has_failed;
    _Atomic bool fault_is_told; /* `fault` is complete */
    struct sg_transport_fault fault;
    struct sg_transport_usage usage;
    _Atomic uint32_t events; /* to acknowledge on close */
};

/* True if this process takes part in collective functions only, and has no device resources. */
static inline bool sg_verbs_is_idle(const struct sg_transport *transport)
{
    return transport->location.server >= transport->location.servers;
}

/* Returns 1 + the channel to an endpoint; 0: there is none. While another thread adds channels,
 * those that were there before are found. */
static inline uint32_t sg_verbs_channel_of(const struct sg_transport *transport, int32_t endpoint)
{
    uint32_t at = (uint32_t)sg_hash_mix((uint32_t)endpoint);

    for (;; at++) {
        const struct sg_verbs_known *known = &transport->known[at & (transport->known_room - 1)];

        if (known->channel == 0 || known->endpoint == endpoint)
            return known->channel;
    }
}

/* Offset in a machine's memory. */
static inline size_t sg_verbs_endpoint_at(const struct sg_transport *transport, int32_t index)
{
    return transport->base_at + sizeof(struct sg_verbs_header) +
           (size_t)index * transport->layout.endpoint_bytes;
}

static inline unsigned char *sg_verbs_own(const struct sg_transport *transport, size_t at)
{
    return (unsigned char *)transport->location.memory +
           sg_verbs_endpoint_at(transport, transport->location.index) + at;
}

static inline struct sg_verbs_endpoint *sg_verbs_endpoint(const struct sg_transport *transport)
{
    return (struct sg_verbs_endpoint *)sg_verbs_own(transport, 0);
}

static inline struct sg_verbs_channel *sg_verbs_channel(const struct sg_transport *transport,
                                                        uint32_t channel)
{
    return (struct sg_verbs_channel *)sg_verbs_own(transport, transport->layout.channels_at) +
           channel;
}

static inline struct sg_verbs_told *sg_verbs_told(const struct sg_transport *transport,
                                                  uint32_t channel)
{
    return (struct sg_verbs_told *)sg_verbs_own(transport, transport->layout.told_at) + channel;
}

static inline size_t sg_verbs_entry_at(const struct sg_transport *transport, uint32_t channel,
                                       uint64_t number)
{
    return ((size_t)channel * transport->layout.places + number % transport->layout.places) *
           transport->layout.entry_bytes;
}

static inline struct sg_verbs_entry *sg_verbs_ring(const struct sg_transport *transport,
                                                   uint32_t channel, uint64_t number)
{
    return (struct sg_verbs_entry *)sg_verbs_own(
        transport, transport->layout.rings_at + sg_verbs_entry_at(transport, channel, number));
}

static inline struct sg_verbs_entry *sg_verbs_mirror(const struct sg_transport *transport,
                                                     uint32_t channel, uint64_t number)
{
    return (struct sg_verbs_entry *)sg_verbs_own(
        transport, transport->layout.mirrors_at + sg_verbs_entry_at(transport, channel, number));
}

static inline uint64_t sg_verbs_remote(const struct sg_transport *transport,
                                       const struct sg_verbs_peer *peer, size_t at)
{
    return transport->links[peer->link].memory + sg_verbs_endpoint_at(transport, peer->index) + at;
}

#endif
