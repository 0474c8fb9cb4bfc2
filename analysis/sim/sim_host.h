/* The part of algo.h's host that all schedulers share: it applies a handler's actions to the
 * endpoint's buffers, timers and watches, and an access to its target's memory. A scheduler decides
 * when a message arrives, what an action costs and which event comes next: in virtual time
 * (sim/timed_world.c), at random (verify/explore.c) or in every order (verify/exhaustive.c).
 *
 * Functions return NULL, or a short text that names what the protocol did wrong. */
#ifndef SG_SIM_SIM_HOST_H
#define SG_SIM_SIM_HOST_H

#include "algos/algo.h"

/* The payload of simulated endpoints: symbolic values instead of numbers, so that a result shows
 * how it was computed.
 *
 * A value is a 64-bit hash that stands for an expression over contributions, with the set of ranks
 * in it. The operation decides how hashes are combined. If any order and association give the same
 * bits (SG_CALL_EXACT), the hashes are added; if operands may change sides (SG_CALL_COMMUTATIVE),
 * the hash is symmetric but not associative; else it is neither. So equal hashes mean the same
 * expression, and the set distinguishes a missing contribution from one in the wrong place.
 *
 * These functions change only the values that they are given; ranks beyond the set's 64 are only
 * counted. */

#define SG_VALUE_RANKS 64

struct sg_value {
    uint64_t hash;
    uint64_t ranks;    /* the ranks below SG_VALUE_RANKS whose contributions are in it */
    uint32_t count;    /* contributions; 0: the buffer holds nothing */
    uint32_t instance; /* the caller's number for a pair (communicator, instance) */
    uint32_t bytes;
    uint32_t flags; /* the operation's SG_CALL_* flags */
};

/* One endpoint's buffers. */
struct sg_payload {
    struct sg_value *slots;
    uint32_t slots_count;
    struct sg_value *operand; /* NULL when no call is under way */
    struct sg_value *results; /* results_count elements, indexed by instance modulo credits */
    uint32_t results_count;
    const struct sg_value *parts; /* parts of the message being handled */
    uint32_t parts_count;
};

/* The contribution of `rank` to an instance. */
struct sg_value sg_value_contribution(uint32_t instance, int32_t rank, uint32_t bytes,
                                      uint32_t flags);
/* left op right; *into may be either. */
const char *sg_value_combine(const struct sg_value *left, const struct sg_value *right,
                             struct sg_value *into);
/* Loads the value in `from`, which must be `bytes` long. */
const char *sg_payload_load(const struct sg_payload *payload, struct sg_data from, uint32_t bytes,
                            struct sg_value *value);
/* Writes to a slot or result; a NULL value empties the buffer. */
const char *sg_payload_store(struct sg_payload *payload, struct sg_data into,
                             const struct sg_value *value);

#define SG_TIMER_UNSET UINT64_MAX

struct sg_host_watch {
    uint64_t value;
    uint32_t cell;
    bool set, solicited;
};

/* The host checks which endpoints name which others in communicators up to this size. */
#define SG_HOST_PEERS_MAX 128

/* Bit to % 64 of named[from][to / 64] is set if `from` may name `to` according to the protocol
 * (algo.h, peers); all bits are set if the protocol has no such list. Zeroed at first. */
struct sg_host_peers {
    uint64_t named[SG_HOST_PEERS_MAX][SG_HOST_PEERS_MAX / 64];
};

/* Adds the peers of one call. */
void sg_host_add_peers(struct sg_host_peers *peers, const struct sg_algo *algo, int32_t size,
                       const struct sg_algo_parameters *parameters,
                       const struct sg_algo_call *call);

/* An endpoint as actions and accesses see it; the scheduler owns the memory. */
struct sg_host_endpoint {
    void *owner; /* the scheduler's data on this endpoint */
    int32_t rank, size;
    const struct sg_host_peers *peers; /* NULL: not checked */
    unsigned char *state;
    struct sg_payload *payload; /* NULL: payloads are not simulated */
    uint64_t *timer_ns;         /* SG_TIMERS elements; SG_TIMER_UNSET */
    uint64_t *cells;
    struct sg_host_watch *watches; /* SG_WATCHES elements */
    uint32_t cells_count, parts_most;
};

/* Hands out memory piece by piece; with memory NULL it only counts bytes. */
struct sg_host_layout {
    unsigned char *memory; /* aligned to 64 */
    size_t used;
};

void *sg_host_reserve(struct sg_host_layout *layout, size_t bytes);
/* Reserves an endpoint's state and cells and, for the given number of credits, its slots and
 * results (0 credits: none). Keeps `guard` bytes, a multiple of 64, free on both sides of the
 * state. */
void sg_host_lay_out(struct sg_host_layout *layout, const struct sg_algo_needs *needs,
                     uint32_t credits, size_t guard, struct sg_host_endpoint *endpoint);
/* Sets up an endpoint's timers and protocol state, in zeroed memory, as before the first call. */
void sg_host_init(const struct sg_host_endpoint *endpoint, const struct sg_algo *algo,
                  const struct sg_algo_parameters *parameters);

/* ---- flights */

enum sg_flight_kind {
    SG_FLIGHT_MESSAGE,
    SG_FLIGHT_ACCESS,
    SG_FLIGHT_REPLY,
    SG_FLIGHT_TIMER, /* has expired at its endpoint, but is not handled yet */
    SG_FLIGHT_WATCH  /* likewise */
};

/* A message, access, reply or notice in flight, without its values. The struct has no padding, and
 * unused fields are zero, so that equal flights have equal bytes. */
struct sg_flight {
    int32_t from, to; /* access: from the initiator; its reply: to the initiator */
    uint8_t kind;     /* enum sg_flight_kind */
    bool solicited, multicast;
    uint8_t asked; /* access, FILL or DRAIN, and its reply: enum sg_action_kind */
    uint32_t tag;  /* the same: their tag; timer or watch: its id */
    struct sg_data into;
    uint32_t own; /* owned by the scheduler */
    union {
        struct sg_header header;
        struct {
            uint64_t value;
            uint32_t bytes, remote, count;
        } access; /* watch: remote is its cell. FILL or DRAIN: value is the post's handle, remote
                   * the slot and count the offset */
        uint64_t cells[8]; /* values that a reply returns */
    };
};

struct sg_host {
    void *world; /* the scheduler's world */
    const struct sg_host_scheduler *scheduler;
    const struct sg_algo *algo;
    uint64_t first;            /* parameters.first */
    struct sg_actions actions; /* the scheduler owns list and parts */
    uint64_t *marks;           /* number of times that each mark was reached */
    char wrong[64];            /* buffer for the text of a fault */
};

/* A range of a post's bytes. */
struct sg_host_bytes {
    uint32_t handle, offset, bytes;
};

/* A scheduler's callbacks for actions. The host calls them after it has carried out the endpoint's
 * part of an action. */
struct sg_host_scheduler {
    /* Called before each action; false: the host skips this action and the rest. */
    bool (*begin)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                  const struct sg_action *action);
    /* A message (to all others if it is a multicast) or an access leaves. values: the message's
     * parts, or the value that the access writes; NULL if there are none or payloads are not
     * simulated. */
    void (*launch)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                   const struct sg_flight *flight, const struct sg_value *values);
    /* A COPY or REDUCE is done. */
    const char *(*combine)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                           const struct sg_action *action);
    /* A protocol sets a timer to time_ns; returns the time at which it fires. The timer's previous
     * time is still stored. NULL: it fires at time_ns. */
    uint64_t (*set_timer)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                          uint32_t id, uint64_t time_ns);
    /* The watch has been set. May be NULL. */
    void (*watch)(struct sg_host *host, const struct sg_host_endpoint *endpoint, uint32_t id);
    void (*complete)(struct sg_host *host, const struct sg_host_endpoint *endpoint);
    /* seq: counted from 1. */
    void (*finish)(struct sg_host *host, const struct sg_host_endpoint *endpoint, uint32_t seq);
    /* A slice is over at the endpoint. May be NULL. */
    void (*end_slice)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                      const struct sg_slice *slice);
    /* The three callbacks for posts; NULL if the scheduler has none. `fill` returns the value of a
     * send's bytes from an offset on, `drain` receives a receive's bytes, `deliver` a DELIVER
     * action. The host calls fill and drain only if payloads are simulated. */
    const char *(*fill)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                        const struct sg_host_bytes *bytes, struct sg_value *value);
    const char *(*drain)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                         const struct sg_host_bytes *bytes, const struct sg_value *value);
    const char *(*deliver)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                           const struct sg_action *action);
};

typedef void (*sg_host_handler)(void *state, const struct sg_event *event,
                                struct sg_actions *actions);

/* Runs a handler, which writes its actions into host->actions, and counts its marks. */
void sg_host_feed(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                  sg_host_handler handle, const struct sg_event *event);
/* Carries out these actions, up to the first wrong one. */
const char *sg_host_carry_out(struct sg_host *host, const struct sg_host_endpoint *endpoint);
/* An access, FILL or DRAIN takes effect at its target; if it has a reply, *flight becomes that
 * reply. value: the value that a WRITE writes or a READ returns; unused if payloads are not
 * simulated. */
const char *sg_host_access(struct sg_host *host, const struct sg_host_endpoint *target,
                           struct sg_flight *flight, struct sg_value *value);
/* The event for a message or a reply, without its time. */
struct sg_event sg_host_event(const struct sg_flight *flight);

#endif
