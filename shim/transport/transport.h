/* The contract of the transports: how messages and memory of the endpoints of one communicator
 * reach one another (architecture.md, "endpoints").
 *
 * A transport is opened once per communicator and process. Several processes may serve one
 * endpoint; all calls that name an endpoint as their own (`self`) are made by whoever holds that
 * endpoint's lock, so a transport sees one caller an endpoint at a time, in any process; in a
 * signal handler too, but only where it has no `remote`. Nothing here blocks, allocates, logs or
 * calls MPI after open.
 *
 *   send        to one endpoint: arrives exactly once. Messages of one pair may overtake each
 *               other.
 *   multicast   to all others: each receiver may miss it, or get it out of order; protocols repair.
 *   access      one-sided: WRITE, WRITE_CELL, FETCH_ADD, READ, READ_CELLS of algo.h on the slots
 *               and cells of any endpoint, in issue order for one target, FETCH_ADD atomic. Data
 *               may come into memory later than what follows it; AWAIT tells when it is there.
 *
 * A transport has room for every message that the protocols may have under way at once
 * (limits: setup.inflight for each pair, setup.staged with payload for each sender, counted for
 * each receiver); a send beyond them is not lost but refused, and tried again.
 */
#ifndef SG_TRANSPORT_TRANSPORT_H
#define SG_TRANSPORT_TRANSPORT_H

#include "algos/algo.h"
#include "core/exchange.h"
#include "core/status.h"

struct sg_transport;

#define SG_TRANSPORT_STAGED_MAX 4096

/* Of a transport between machines: where this process is. Messages and access go to memory that the
 * processes of a machine share; all of it is laid out alike on every machine. */
struct sg_transport_location {
    const struct sg_exchange *exchange; /* among the communicator's processes: open and connect */
    void *memory;                       /* holds `shared` of open, and all that `access` names */
    size_t memory_bytes;
    int32_t self;  /* the endpoint that this process serves */
    int32_t index; /* its number among the machine's endpoints */
    /* The process's number among those of the endpoint, and how many are connected: a process of
     * that number or above takes part in open and connect, and calls nothing else. */
    int32_t server, servers;
    bool adds; /* FETCH_ADD is asked for: connect fails where there are no atomic operations */
};

struct sg_transport_setup {
    int32_t endpoints;
    int32_t here;                                 /* the most endpoints of one machine; 0: all */
    const struct sg_transport_location *location; /* of a transport that has `remote`; else NULL */
    uint32_t inflight;    /* messages not yet released, for each (sender, receiver) */
    uint32_t staged;      /* messages with payload not yet released, for each sender */
    uint32_t eager_bytes; /* the most payload of a message, all parts together */
};

/* Where an endpoint's slots and cells are, for `access`: of one protocol, in memory that the
 * opener and, by the transport's means, its peers reach. */
struct sg_transport_region {
    uint64_t protocol; /* that a REPLY is for */
    void *slots;       /* of an endpoint on another machine: where they would be on this one */
    _Atomic uint64_t *cells;
    /* slot_bytes: from one slot to the next. Between machines it holds SG_TRANSPORT_SEAL_BYTES
     * beside any data with a stamp. */
    uint32_t slot_bytes, slots_count, cells_count;
};

struct sg_transport_send {
    uint64_t protocol; /* the opener's: which of the communicator's protocol it is for */
    bool solicited;    /* of a multicast, too */
    struct sg_header header;
    const void *const *parts; /* header.parts of them, header.bytes each */
};

struct sg_transport_message {
    uint64_t protocol;
    bool solicited;
    struct sg_message message;
    const void *parts; /* one after another, at multiples of header.bytes rounded up to 16 */
    uint64_t handle;   /* the transport's own */
    bool is_reply;     /* to an access that was LATER: protocol, tag and value, no message */
    uint32_t tag;
    uint64_t value[8];
};

enum sg_transport_result {
    SG_TRANSPORT_DONE,
    SG_TRANSPORT_LATER, /* access: its REPLY comes by receive */
    SG_TRANSPORT_FULL   /* not done: try again when others have received */
};

/* What a transport can do. */
enum { SG_TRANSPORT_ONE_SIDED = 1 };

/* What has failed: an endpoint that cannot be reached, or this process's own adapter. */
struct sg_transport_fault {
    int32_t peer; /* the endpoint at the other end, SG_TRANSPORT_ALL, SG_TRANSPORT_NOBODY */
    bool is_own;
    const char *what; /* static */
};

/* Since open, of this process. */
struct sg_transport_usage {
    uint64_t registered_bytes; /* with the adapter */
    uint64_t requests;         /* work requests posted to send queues */
    uint64_t multicasts;       /* ... those of them that a switch repeats */
    uint64_t repeats;          /* multicasts that were dropped as having come before */
    uint32_t connections;      /* queue pairs */
    bool has_multicast;        /* else by messages along a tree */
};

/* What a transport between machines has beside, whose messages no process of the receiver's machine
 * sees leave. What the receiver's processes are told of is what is solicited. */
struct sg_transport_remote_ops {
    /* Collective over the place's exchange. From now on messages and access go to these endpoints,
     * which name this one likewise (an endpoint may name itself, for access); adds to what there
     * is. Each new connection is tried. Never under an endpoint's lock. SG_OK on all ranks or on
     * none: else what was connected before goes on working, and the first rank that failed has
     * logged why. */
    enum sg_status (*connect)(struct sg_transport *transport, const int32_t *peers, int count);
    /* Becomes readable when a solicited message comes for this process, or something fails, after
     * arm: once each time it is armed. */
    int (*descriptor)(const struct sg_transport *transport);
    /* Without the lock, both. */
    void (*arm)(struct sg_transport *transport);
    int (*take_events)(struct sg_transport *transport); /* how many; it is not readable any more */
    /* Under the lock: whether all that this process has asked of others' memory has been done, and
     * its replies taken. Until then no other process of the endpoint may access any. */
    bool (*settled)(struct sg_transport *transport);
    /* Under the lock: asks connected endpoints for a sign of life; who gives none is a fault later.
     */
    void (*probe)(struct sg_transport *transport);
    /* Any thread, without the lock. The first fault: nothing works after it, sends are dropped. */
    bool (*fault)(const struct sg_transport *transport, struct sg_transport_fault *out);
    void (*usage)(const struct sg_transport *transport, struct sg_transport_usage *out);
};

struct sg_transport_ops {
    const char *name;
    uint32_t capabilities;
    /* NULL: within one machine, and from send on all is async-signal-safe. */
    const struct sg_transport_remote_ops *remote;
    /* Shared memory of the machine that open wants, zeroed; 0: such a setup is not possible. */
    size_t (*shared_bytes)(const struct sg_transport_setup *setup);
    /* Any status but SG_OK: errno tells, nothing is logged. */
    enum sg_status (*open)(const struct sg_transport_setup *setup, void *shared,
                           struct sg_transport **out);
    void (*close)(struct sg_transport *transport);
    /* to: an endpoint, or SG_TRANSPORT_ALL. DONE: the parts may be changed. */
    enum sg_transport_result (*send)(struct sg_transport *transport, int self, int to,
                                     const struct sg_transport_send *send);
    /* The next message for self, if any: good until release. Several may be held, and released in
     * any order; while SG_TRANSPORT_HELD multicasts are held, no more of them are received. */
    bool (*receive)(struct sg_transport *transport, int self, struct sg_transport_message *out);
    void (*release)(struct sg_transport *transport, int self,
                    const struct sg_transport_message *message);
    /* One action of algo.h's one-sided kinds; value (8 words) gets what a REPLY carries. region is
     * the target's, as every process knows it. local: the data read from or written to. Or AWAIT,
     * of local data with access.value as its stamp; to: where it was read from, or -1. FULL: it is
     * not whole yet. */
    enum sg_transport_result (*access)(struct sg_transport *transport, int self,
                                       const struct sg_action *action,
                                       const struct sg_transport_region *region, void *local,
                                       uint64_t value[8]);
    /* True when receive would find something: cheap, any process may ask without the lock. Of a
     * sequentially consistent operation before this and a sender's fence after its send, the later
     * one sees the other. */
    bool (*pending)(const struct sg_transport *transport, int self);
};

#define SG_TRANSPORT_ALL (-1)
#define SG_TRANSPORT_NOBODY (-2)
#define SG_TRANSPORT_HELD 4
/* What data with a stamp takes beside its own bytes, which are rounded up to 8. */
#define SG_TRANSPORT_SEAL_BYTES 24u
#define SG_TRANSPORT_ACCESS_BYTES 65536u /* the most that one access moves */

extern const struct sg_transport_ops sg_transport_shm;

#endif
