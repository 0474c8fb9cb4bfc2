/* The state of one communicator's transport in this process, and what it keeps where in the memory
 * that the processes of a machine share.
 */
#ifndef SG_TRANSPORT_VERBS_VERBS_STATE_H
#define SG_TRANSPORT_VERBS_VERBS_STATE_H

#include "transport/verbs/verbs_device.h"
#include "transport/verbs/verbs_layout.h"

/* One-sided requests of this process under way, and the memory that their sources are copied to. */
#define SG_VERBS_ACCESSES 128
#define SG_VERBS_ACCESS_BYTES ((size_t)4 * SG_TRANSPORT_ACCESS_BYTES)

/* What each process tells the others when it opens the transport. */
struct sg_verbs_process {
    uint64_t memory; /* its address there */
    union ibv_gid gid;
    uint32_t key;
    int32_t endpoint, index, server, servers;
    uint16_t lid;
    uint8_t mtu, reads; /* enum ibv_mtu; RDMA reads that it answers at once */
    uint8_t is_ethernet;
    uint8_t reserved[3];
};

/* A queue pair. */
struct sg_verbs_link {
    struct ibv_qp *pair;
    uint32_t channel;
    int32_t peer;
    int32_t rank;    /* of the exchange, at the other end */
    uint64_t memory; /* of the process at the other end */
    uint32_t key;
    uint32_t inline_bytes;
    uint32_t depth;             /* of its send queue */
    uint32_t posted, reclaimed; /* requests */
    uint32_t quiet;             /* since the last one that has a completion */
    uint32_t reads;             /* under way, atomic ones included */
    bool is_probed;
};

/* How to reach an endpoint: by the first link of its channel. */
struct sg_verbs_peer {
    int32_t endpoint, index, servers;
    uint32_t channel; /* the number that the channel has there */
    uint32_t link;
};

struct sg_verbs_access {
    uint8_t state; /* of access.c */
    bool reads;    /* it has an answer, which is a REPLY but for `again` */
    bool again;    /* of data that was not whole */
    uint32_t channel, tag;
    uint32_t words; /* of the REPLY's value */
    uint32_t bytes; /* that go from the staging memory to `local` */
    void *local;
    uint64_t protocol;
    size_t staged_at, staged_end; /* bytes staged since open: a ring */
};

struct sg_verbs_multicast;

struct sg_verbs_completed;

struct sg_transport {
    struct sg_transport_setup setup;
    struct sg_transport_location location;
    struct sg_verbs_layout layout;
    unsigned char *base;   /* `shared` of open */
    size_t base_at;        /* in the place's memory */
    struct ibv_mr *memory; /* the place's */
    unsigned char *own;    /* this process's alone, registered: staging, datagrams */
    size_t own_bytes;
    struct ibv_mr *own_region;
    struct ibv_comp_channel *completion_channel;
    struct ibv_cq *queue; /* of all completions */
    const struct sg_verbs_completed *completed;
    struct ibv_srq *doorbells; /* what solicited messages take one of */
    uint32_t doorbells_missing;
    struct sg_verbs_process *processes; /* by rank of the exchange */
    int32_t *channel_of;                /* by endpoint: number + 1 */
    struct sg_verbs_peer *peers;        /* by channel */
    struct sg_verbs_link *links;
    uint32_t links_max, link_depth;
    _Atomic uint32_t channel_count;
    _Atomic uint32_t link_count;
    struct sg_verbs_access accesses[SG_VERBS_ACCESSES];
    uint32_t access_first, access_count; /* a ring, in the order of issue */
    size_t staged_from, staged_to;
    uint32_t replies;         /* that nobody has received yet */
    uint32_t again;           /* accesses with `again` */
    uint32_t looks;           /* at data that was not whole */
    uint32_t open;            /* accesses and fetches under way */
    _Atomic uint32_t awaited; /* these and probes: whose completion somebody waits for */
    struct sg_verbs_multicast *multicast; /* NULL: along the tree */
    struct sg_verbs_link *multicast_link; /* ... of which it is a part */
    _Atomic uint32_t
        multicasts_held; /* multicasts, of either kind; relaxed: pending() only looks */
    _Atomic bool has_failed;
    _Atomic bool fault_is_told; /* peer and what are there */
    struct sg_transport_fault fault;
    struct sg_transport_usage usage;
    _Atomic uint32_t events; /* to be acknowledged when it is closed */
};

/* It takes part in what is collective, and has nothing of the device's. */
static inline bool sg_verbs_is_idle(const struct sg_transport *transport)
{
    return transport->location.server >= transport->location.servers;
}

/* In the memory of a machine whose mapping begins at 0. */
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
