/* One communicator's transport in this process: shared by the files of verbs. */
#ifndef SG_TRANSPORT_VERBS_IMPL_H
#define SG_TRANSPORT_VERBS_IMPL_H

#include "transport/verbs/device.h"
#include "transport/verbs/layout.h"

/* Of requests that need no completion, so many are without one between two that have one. */
#define SG_VERBS_SIGNAL_EVERY 16
/* Accesses and fetches that a send queue has room for beside all messages of its lane. */
#define SG_VERBS_QUEUE_SPARE 64u
/* Received and sent, that a process has room for. */
#define SG_VERBS_DATAGRAMS 128u
/* One-sided requests of this process under way, and the memory that their sources are copied to. */
#define SG_VERBS_ACCESSES 128
#define SG_VERBS_ACCESS_BYTES ((size_t)4 * SG_TRANSPORT_ACCESS_BYTES)
/* A request's retries: about half a second each time, seven times in all. Of soft-RoCE 7 retries
 * are without end. */
#define SG_VERBS_TIMEOUT 17
#define SG_VERBS_RETRIES 6
#define SG_VERBS_TREE_DEGREE 4
#define SG_VERBS_MAX_INLINE 256

/* What a completion is of: in the highest byte of its request's number; then the link (16 bits),
 * an index of the kind's own (16) and the low bits of the link's count of requests. */
enum sg_verbs_request {
    SG_VERBS_OF_ENTRY = 1,
    SG_VERBS_OF_ACCESS, /* index: in accesses */
    SG_VERBS_OF_FETCH,
    SG_VERBS_OF_PROBE,
    SG_VERBS_OF_DATAGRAM,
    SG_VERBS_OF_BELL,    /* received: a solicited message is there */
    SG_VERBS_OF_RECEIVED /* a datagram; index: its buffer */
};

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
    uint32_t lane;
    int32_t peer;
    uint64_t memory; /* of the process at the other end */
    uint32_t key;
    uint32_t inline_bytes;
    uint32_t depth;             /* of its send queue */
    uint32_t posted, reclaimed; /* requests */
    uint32_t quiet;             /* since the last one that has a completion */
    uint32_t reads;             /* under way, atomic ones included */
    bool is_probed;
};

/* How to reach an endpoint: by the first link of its lane. */
struct sg_verbs_peer {
    int32_t endpoint, index, servers;
    uint32_t lane; /* the number that the lane has there */
    uint32_t link;
};

struct sg_verbs_access {
    uint8_t state; /* of access.c */
    bool reads;    /* it has a REPLY */
    uint32_t lane, tag;
    uint32_t words; /* of the REPLY's value */
    uint32_t bytes; /* that go from the staging memory to `local` */
    void *local;
    uint64_t object;
    size_t staged_at, staged_end; /* bytes staged since open: a ring */
};

struct sg_verbs_multicast;

struct sg_transport {
    struct sg_transport_setup setup;
    struct sg_transport_place place;
    struct sg_verbs_layout layout;
    unsigned char *base;   /* `shared` of open */
    size_t base_at;        /* in the place's memory */
    struct ibv_mr *memory; /* the place's */
    unsigned char *own;    /* this process's alone, registered: staging, datagrams */
    size_t own_bytes;
    struct ibv_mr *own_region;
    struct ibv_comp_channel *channel;
    struct ibv_cq *queue;  /* of all completions */
    struct ibv_srq *bells; /* what solicited messages take one of */
    uint32_t bells_missing;
    struct sg_verbs_process *processes; /* by rank of the exchange */
    int32_t *lane_of;                   /* by endpoint: number + 1 */
    struct sg_verbs_peer *peers;        /* by lane */
    struct sg_verbs_link *links;
    uint32_t links_max, link_depth;
    _Atomic uint32_t lane_count;
    _Atomic uint32_t link_count;
    struct sg_verbs_access accesses[SG_VERBS_ACCESSES];
    uint32_t access_first, access_count; /* a ring, in the order of issue */
    size_t staged_from, staged_to;
    uint32_t replies;         /* that nobody has received yet */
    uint32_t open;            /* accesses and fetches under way */
    _Atomic uint32_t awaited; /* these and probes: whose completion somebody waits for */
    struct sg_verbs_multicast *multicast; /* NULL: along the tree */
    _Atomic uint32_t posts_held; /* multicasts, of either kind; relaxed: pending() only looks */
    _Atomic bool has_failed;
    _Atomic bool fault_is_told; /* peer and what are there */
    struct sg_transport_fault fault;
    struct sg_transport_usage usage;
    _Atomic uint32_t events; /* to be acknowledged when it is closed */
};

/* It takes part in what is collective, and has nothing of the device's. */
static inline bool sg_verbs_is_idle(const struct sg_transport *transport)
{
    return transport->place.server >= transport->place.servers;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* In the memory of a machine whose mapping begins at 0. */
static inline size_t sg_verbs_endpoint_at(const struct sg_transport *transport, int32_t index)
{
    return transport->base_at + sizeof(struct sg_verbs_header) +
           (size_t)index * transport->layout.endpoint_bytes;
}

static inline unsigned char *sg_verbs_own(const struct sg_transport *transport, size_t at)
{
    return (unsigned char *)transport->place.memory +
           sg_verbs_endpoint_at(transport, transport->place.index) + at;
}

static inline struct sg_verbs_endpoint *sg_verbs_endpoint(const struct sg_transport *transport)
{
    return (struct sg_verbs_endpoint *)sg_verbs_own(transport, 0);
}

static inline struct sg_verbs_lane *sg_verbs_lane(const struct sg_transport *transport,
                                                  uint32_t lane)
{
    return (struct sg_verbs_lane *)sg_verbs_own(transport, transport->layout.lanes_at) + lane;
}

static inline struct sg_verbs_told *sg_verbs_told(const struct sg_transport *transport,
                                                  uint32_t lane)
{
    return (struct sg_verbs_told *)sg_verbs_own(transport, transport->layout.told_at) + lane;
}

static inline size_t sg_verbs_entry_at(const struct sg_transport *transport, uint32_t lane,
                                       uint64_t number)
{
    return ((size_t)lane * transport->layout.places + number % transport->layout.places) *
           transport->layout.entry_bytes;
}

static inline struct sg_verbs_entry *sg_verbs_ring(const struct sg_transport *transport,
                                                   uint32_t lane, uint64_t number)
{
    return (struct sg_verbs_entry *)sg_verbs_own(
        transport, transport->layout.rings_at + sg_verbs_entry_at(transport, lane, number));
}

static inline struct sg_verbs_entry *sg_verbs_mirror(const struct sg_transport *transport,
                                                     uint32_t lane, uint64_t number)
{
    return (struct sg_verbs_entry *)sg_verbs_own(
        transport, transport->layout.mirrors_at + sg_verbs_entry_at(transport, lane, number));
}

static inline uint64_t sg_verbs_remote(const struct sg_transport *transport,
                                       const struct sg_verbs_peer *peer, size_t at)
{
    return transport->links[peer->link].memory + sg_verbs_endpoint_at(transport, peer->index) + at;
}

/* ---- requests and completions: queue.c ------------------------------------------------------- */

/* Whether a request may be posted now. */
bool sg_verbs_has_room(struct sg_transport *transport, struct sg_verbs_link *link);
/* There is room. A request of an entry may go without completion. */
void sg_verbs_post(struct sg_transport *transport, struct sg_verbs_link *link,
                   struct ibv_send_wr *request, enum sg_verbs_request kind, uint32_t index);
/* Takes what has been completed. */
void sg_verbs_poll(struct sg_transport *transport);
/* The first one stays. */
void sg_verbs_fail(struct sg_transport *transport, struct sg_transport_fault fault);
static inline bool sg_verbs_has_failed(const struct sg_transport *transport)
{
    /* Relaxed: the fault itself is read by way of fault_is_told. */
    return atomic_load_explicit(&transport->has_failed, memory_order_relaxed);
}

/* ---- lanes: lane.c --------------------------------------------------------------------------- */

/* What is sent by a lane: payload as parts, or as it lies (bytes of it, parts NULL). */
struct sg_verbs_content {
    enum sg_verbs_entry_kind kind;
    const struct sg_transport_send *send;
    const void *payload; /* in place of send->parts */
    int32_t from;
};

bool sg_verbs_put(struct sg_transport *transport, uint32_t lane,
                  const struct sg_verbs_content *content);
bool sg_verbs_lane_receive(struct sg_transport *transport, struct sg_transport_message *out);
void sg_verbs_lane_release(struct sg_transport *transport,
                           const struct sg_transport_message *message);
bool sg_verbs_lane_pending(const struct sg_transport *transport);
/* A fetch of the lane has been completed. */
void sg_verbs_lane_fetched(struct sg_transport *transport, uint32_t lane);

/* ---- multicasts along the tree: tree.c ------------------------------------------------------- */

/* The endpoint's neighbours; at most SG_VERBS_TREE_DEGREE + 1. */
int sg_verbs_tree(const struct sg_transport *transport, int32_t *out);
void sg_verbs_tree_send(struct sg_transport *transport, const struct sg_transport_send *send);
/* A post that came by a lane goes on to the other neighbours. */
void sg_verbs_tree_forward(struct sg_transport *transport, uint32_t came_by,
                           const struct sg_verbs_entry *entry, const void *payload);

/* ---- multicasts by datagrams: multicast.c ---------------------------------------------------- */

/* What it wants of transport->own, from SG_VERBS_ACCESS_BYTES on. */
size_t sg_verbs_multicast_bytes(void);
/* Collective over the exchange. SG_OK also where there is none: on all ranks then, and one has said
 * why. */
enum sg_status sg_verbs_multicast_open(struct sg_transport *transport);
void sg_verbs_multicast_close(struct sg_transport *transport);
void sg_verbs_multicast_send(struct sg_transport *transport, const struct sg_transport_send *send);
bool sg_verbs_multicast_receive(struct sg_transport *transport, struct sg_transport_message *out);
void sg_verbs_multicast_release(struct sg_transport *transport,
                                const struct sg_transport_message *message);
bool sg_verbs_multicast_pending(const struct sg_transport *transport);
/* A datagram is in its buffer. */
void sg_verbs_multicast_came(struct sg_transport *transport, uint32_t buffer, uint32_t bytes);
struct sg_verbs_link *sg_verbs_multicast_link(struct sg_transport *transport);

/* ---- access: access.c ------------------------------------------------------------------------ */

enum sg_transport_result sg_verbs_access(struct sg_transport *transport, int self,
                                         const struct sg_action *action,
                                         const struct sg_transport_region *region, void *local,
                                         uint64_t value[8]);
void sg_verbs_access_done(struct sg_transport *transport, uint32_t index);
bool sg_verbs_access_reply(struct sg_transport *transport, struct sg_transport_message *out);

/* ---- set-up: open.c, connect.c --------------------------------------------------------------- */

/* Every process's data, by rank of the exchange: malloc'ed, sizes alike. */
enum sg_status sg_verbs_all(const struct sg_exchange *exchange, const void *data, size_t bytes,
                            void **all);
/* Agrees whether all went well; the first rank where it did not says why. SG_OK on all or
 * SG_ERR_SYSTEM on all. */
enum sg_status sg_verbs_agree(const struct sg_exchange *exchange, bool ok, const char *what,
                              const char *reason);
enum sg_status sg_verbs_connect(struct sg_transport *transport, const int32_t *peers, int count);

extern const struct sg_transport_wire sg_verbs_wire;

#endif
