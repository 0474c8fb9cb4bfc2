/* The contract of the transports, which carry messages and memory accesses between the endpoints of
 * one communicator (architecture.md, "endpoints").
 *
 * A transport is opened once per communicator and process. Several processes may serve one
 * endpoint. Only the holder of an endpoint's lock makes calls with that endpoint as its own
 * (`self`), so a transport sees one caller an endpoint at a time, in any process; also in a signal
 * handler, but only if it has no `remote`. Nothing here blocks, allocates, logs or calls MPI after
 * open.
 *
 *   send        to one endpoint: arrives exactly once. Messages of one pair may overtake each
 *               other.
 *   multicast   to all others: each receiver may miss it, or get it out of order; protocols repair.
 *   access      one-sided: WRITE, WRITE_CELL, FETCH_ADD, READ, READ_CELLS of algo.h on the slots
 *               and cells of any endpoint, in issue order for one target, FETCH_ADD atomic. Data
 *               may reach memory after a later cell; AWAIT reports when it is complete.
 *
 * A transport has capacity for every message that the protocols may have in flight at once (limits:
 * setup.inflight for each pair, setup.staged with payload for each sender, counted for each
 * receiver). It refuses a send beyond them, without loss; the caller tries again.
 */
#ifndef SG_TRANSPORT_TRANSPORT_H
#define SG_TRANSPORT_TRANSPORT_H

#include "algos/algo.h"
#include "core/exchange.h"
#include "core/grouping.h"
#include "core/status.h"

struct sg_transport;

#define SG_TRANSPORT_STAGED_MAX 4096

/* Between machines an endpoint may be connected to all of up to this many endpoints; of more, to
 * those of a tree and of a few doubling patterns. */
#define SG_TRANSPORT_ALL_CONNECTED 64
#define SG_TRANSPORT_PEERS_MAX (2 * 24 + 28) /* of SG_ENDPOINTS_MAX */
static inline int sg_transport_peers_max(int32_t endpoints)
{
    int levels = 0;

    if (endpoints <= SG_TRANSPORT_ALL_CONNECTED)
        return endpoints;
    while (INT32_C(1) << levels < endpoints)
        levels++;
    return 2 * levels + 28 < endpoints ? 2 * levels + 28 : endpoints;
}

/* This process's place in a transport between machines. Messages and access go to memory that the
 * processes of a machine share; its layout is identical on every machine. */
struct sg_transport_location {
    const struct sg_exchange *exchange; /* among the communicator's processes: open and connect */
    const struct sg_grouping *ranks;    /* the exchange's ranks, by endpoint */
    const struct sg_grouping *machines; /* the endpoints, by machine */
    void *memory;                       /* contains open's `shared`, and all that `access` uses */
    size_t memory_bytes;
    int32_t self;  /* the endpoint that this process serves */
    int32_t index; /* its number among the machine's endpoints */
    /* The process's number among those of the endpoint, and how many of these are connected. A
     * process with a number of `servers` or more takes part in open and connect, and calls nothing
     * else. */
    int32_t server, servers;
    int32_t servers_max; /* the limit of `servers` of any endpoint */
    bool adds;           /* FETCH_ADD is needed: connect fails without atomic operations */
};

struct sg_transport_setup {
    int32_t endpoints;
    int32_t here;                                 /* most endpoints on one machine; 0: all */
    const struct sg_transport_location *location; /* for a transport that has `remote`; else NULL */
    uint32_t inflight;    /* messages not yet released, for each (sender, receiver) */
    uint32_t staged;      /* messages with payload not yet released, for each sender */
    uint32_t eager_bytes; /* largest payload of a message, all parts */
};

/* An endpoint's slots and cells of one protocol, for `access`: in memory that the opener reaches
 * and, through the transport, its peers. */
struct sg_transport_region {
    uint64_t protocol; /* protocol that gets a REPLY */
    void *slots;       /* for another machine's endpoint: the address it would have on this one */
    _Atomic uint64_t *cells;
    /* slot_bytes: distance between slots. Between machines it includes SG_TRANSPORT_SEAL_BYTES
     * beside any data with a stamp. */
    uint32_t slot_bytes, slots_count, cells_count;
};

struct sg_transport_send {
    uint64_t protocol; /* set by the opener: the communicator's protocol that gets it */
    bool solicited;    /* also for a multicast */
    struct sg_header header;
    const void *const *parts; /* header.parts of them, header.bytes each */
};

struct sg_transport_message {
    uint64_t protocol;
    bool solicited;
    struct sg_message message;
    const void *parts; /* in sequence, at multiples of header.bytes rounded up to 16 */
    uint64_t handle;   /* for the transport */
    bool is_reply;     /* reply to an access that was LATER: protocol, tag and value, no message */
    uint32_t tag;
    uint64_t value[8];
};

enum sg_transport_result {
    SG_TRANSPORT_DONE,
    SG_TRANSPORT_LATER, /* access: receive returns its REPLY */
    SG_TRANSPORT_FULL   /* not done: try again when others have received */
};

/* Capabilities of a transport. */
enum { SG_TRANSPORT_ONE_SIDED = 1 };

/* A failure: of an endpoint that cannot be reached, or of this process's own adapter. */
struct sg_transport_fault {
    int32_t peer; /* the endpoint at the other end, SG_TRANSPORT_ALL, SG_TRANSPORT_NOBODY */
    bool is_own;
    const char *what; /* statically allocated */
};

/* This process's usage since open. */
struct sg_transport_usage {
    uint64_t registered_bytes; /* with the adapter */
    uint64_t requests;         /* work requests posted to send queues */
    uint64_t multicasts;       /* ... those that a switch replicates */
    uint64_t repeats;          /* duplicate multicasts dropped */
    uint32_t connections;      /* queue pairs */
    bool has_multicast;        /* false: multicasts are messages along a tree */
};

/* Further operations of a transport between machines. No process of the receiver's machine sees its
 * messages leave, so receivers' processes are notified only of solicited ones. */
struct sg_transport_remote_ops {
    /* Collective over the location's exchange. From now on messages and access may go to these
     * endpoints, which list this one as well (an endpoint may list itself, for access); adds to
     * existing connections, of sg_transport_peers_max endpoints in total. Tests each new
     * connection. Never under an endpoint's lock. SG_OK on all ranks or on none: after a failure
     * earlier connections still work, and the first rank that failed has logged why. */
    enum sg_status (*connect)(struct sg_transport *transport, const int32_t *peers, int count);
    /* Becomes readable when a solicited message comes for this process, or on a failure: once each
     * time it is armed. */
    int (*descriptor)(const struct sg_transport *transport);
    /* Without the lock, both. */
    void (*arm)(struct sg_transport *transport);
    int (*take_events)(struct sg_transport *transport); /* returns their number; clears them */
    /* Under the lock: true if all of this process's accesses to others' memory are complete, and
     * its replies taken. Until then no other process of the endpoint may access any. */
    bool (*settled)(struct sg_transport *transport);
    /* Under the lock: asks connected endpoints for a sign of life. One that gives none becomes a
     * fault. */
    void (*probe)(struct sg_transport *transport);
    /* Any thread, without the lock. Returns the first fault: nothing works after it, sends are
     * dropped. */
    bool (*fault)(const struct sg_transport *transport, struct sg_transport_fault *out);
    void (*usage)(const struct sg_transport *transport, struct sg_transport_usage *out);
};

struct sg_transport_ops {
    const char *name;
    uint32_t capabilities;
    /* NULL: within one machine; then send and all functions below are async-signal-safe. */
    const struct sg_transport_remote_ops *remote;
    /* Size of the machine's shared memory that open needs, zeroed; 0: the setup is not possible. */
    size_t (*shared_bytes)(const struct sg_transport_setup *setup);
    /* On failure errno has the reason; nothing is logged. */
    enum sg_status (*open)(const struct sg_transport_setup *setup, void *shared,
                           struct sg_transport **out);
    void (*close)(struct sg_transport *transport);
    /* to: an endpoint, or SG_TRANSPORT_ALL. DONE: the caller may change the parts. */
    enum sg_transport_result (*send)(struct sg_transport *transport, int self, int to,
                                     const struct sg_transport_send *send);
    /* Returns the next message for self, if any: valid until release. Several may be held, and
     * released in any order; while SG_TRANSPORT_HELD multicasts are held, no more of them are
     * received. */
    bool (*receive)(struct sg_transport *transport, int self, struct sg_transport_message *out);
    void (*release)(struct sg_transport *transport, int self,
                    const struct sg_transport_message *message);
    /* One action of algo.h's one-sided kinds. value (8 words): gets the data of a REPLY. region:
     * the target's, as every process knows it. local: source or destination of the data. AWAIT
     * checks local data with access.value as its stamp; to: endpoint it was read from, or -1. FULL:
     * the data is incomplete. */
    enum sg_transport_result (*access)(struct sg_transport *transport, int self,
                                       const struct sg_action *action,
                                       const struct sg_transport_region *region, void *local,
                                       uint64_t value[8]);
    /* True if receive would find something: cheap, any process may call it without the lock. Given
     * a sequentially consistent operation before this and a sender's fence after its send, the
     * later one sees the other. */
    bool (*pending)(const struct sg_transport *transport, int self);
};

#define SG_TRANSPORT_ALL (-1)
#define SG_TRANSPORT_NOBODY (-2)
#define SG_TRANSPORT_HELD 4
/* Overhead of data with a stamp, in addition to its bytes rounded up to 8. */
#define SG_TRANSPORT_SEAL_BYTES 24u
#define SG_TRANSPORT_ACCESS_BYTES 65536u /* limit of one access */

extern const struct sg_transport_ops sg_transport_shm;

#endif
