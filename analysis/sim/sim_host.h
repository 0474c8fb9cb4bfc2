/* The part of algo.h's host that all schedulers share: the effect of a handler's actions on its
 * endpoint's buffers, timers and watches, and of an access on its target's memory. A scheduler
 * decides when what is sent arrives, what an action costs and which event comes next: in virtual
 * time (timed/), at random (explore/) or in every order (exhaustive/).
 *
 * Functions return NULL, or say in a few words what is wrong with what a protocol asked for.
 */
#ifndef SG_SIM_SIM_HOST_H
#define SG_SIM_SIM_HOST_H

#include "algos/algo.h"

/* Payload of simulated endpoints: symbolic values instead of numbers, so that a result shows how it
 * was computed.
 *
 * A value is a 64-bit hash that stands for an expression over contributions, with the set of ranks
 * in it. How hashes are combined depends on the operation: if any order and association give the
 * same bits (SG_CALL_EXACT) by a sum, if operands may change sides (SG_CALL_COMMUTATIVE) by a
 * symmetric hash that is not associative, else by one that is neither. So equal hashes mean the
 * same expression, and the set distinguishes a missing contribution from one in the wrong place.
 *
 * Functions return NULL, or say in a few words what is wrong with what a protocol asked for. They
 * change only the values that they are given; ranks beyond the set's 64 are only counted.
 */

#define SG_VALUE_RANKS 64

struct sg_value {
    uint64_t hash;
    uint64_t ranks;    /* the ranks below SG_VALUE_RANKS whose contributions are in it */
    uint32_t count;    /* contributions; 0: the buffer holds nothing */
    uint32_t instance; /* the caller's number for (communicator, instance) */
    uint32_t bytes;
    uint32_t flags; /* SG_CALL_* of the operation */
};

/* The buffers of one endpoint. */
struct sg_payload {
    struct sg_value *slots;
    uint32_t slots_count;
    struct sg_value *operand; /* NULL when no call is under way */
    struct sg_value *results; /* results_count of them, by instance modulo credits */
    uint32_t results_count;
    const struct sg_value *parts; /* of the message being handled */
    uint32_t parts_count;
};

/* The contribution of `rank` to an instance. */
struct sg_value sg_value_contribution(uint32_t instance, int32_t rank, uint32_t bytes,
                                      uint32_t flags);
/* left op right; *into may be either. */
const char *sg_value_combine(const struct sg_value *left, const struct sg_value *right,
                             struct sg_value *into);
/* The value in `from`, which must be `bytes` long. */
const char *sg_payload_load(const struct sg_payload *payload, struct sg_data from, uint32_t bytes,
                            struct sg_value *value);
/* Writes to a slot or result; with value NULL the buffer is empty from now on. */
const char *sg_payload_store(struct sg_payload *payload, struct sg_data into,
                             const struct sg_value *value);

#define SG_TIMER_UNSET UINT64_MAX

struct sg_host_watch {
    uint64_t value;
    uint32_t cell;
    bool set, solicited;
};

/* Up to this size of the largest communicator it is checked which endpoints name which others. */
#define SG_HOST_PEERS_MAX 128

/* Bit to % 64 of named[from][to / 64]: `from` may name `to`, as the protocol says (algo.h, peers);
 * every endpoint if it does not say. Zeroed at first. */
struct sg_host_peers {
    uint64_t named[SG_HOST_PEERS_MAX][SG_HOST_PEERS_MAX / 64];
};

/* Adds those of a call. */
void sg_host_add_peers(struct sg_host_peers *peers, const struct sg_algo *algo, int32_t size,
                       const struct sg_algo_parameters *parameters,
                       const struct sg_algo_call *call);

/* An endpoint, as actions and accesses see it; the scheduler owns the memory. */
struct sg_host_endpoint {
    void *owner; /* the scheduler's own data on it */
    int32_t rank, size;
    const struct sg_host_peers *peers; /* NULL: not followed */
    unsigned char *state;
    struct sg_payload *payload; /* NULL: payloads are not followed */
    uint64_t *timer_ns;         /* SG_TIMERS; SG_TIMER_UNSET */
    uint64_t *cells;
    struct sg_host_watch *watches; /* SG_WATCHES */
    uint32_t cells_count, parts_most;
};

/* Hands out memory piece by piece; with memory NULL it only counts. */
struct sg_host_layout {
    unsigned char *memory; /* aligned to 64 */
    size_t used;
};

void *sg_host_reserve(struct sg_host_layout *layout, size_t bytes);
/* Reserves an endpoint's state and cells and, for so many credits, its slots and results (0
 * credits: none); `guard` bytes, a multiple of 64, stay free on both sides of the state. */
void sg_host_lay_out(struct sg_host_layout *layout, const struct sg_algo_needs *needs,
                     uint32_t credits, size_t guard, struct sg_host_endpoint *endpoint);
/* Its timers and the protocol's state, in zeroed memory, as before the first call. */
void sg_host_init(const struct sg_host_endpoint *endpoint, const struct sg_algo *algo,
                  const struct sg_algo_parameters *parameters);

/* ---- what is on its way */

enum sg_flight_kind {
    SG_FLIGHT_MESSAGE,
    SG_FLIGHT_ACCESS,
    SG_FLIGHT_REPLY,
    SG_FLIGHT_TIMER, /* at its endpoint, but not handled yet */
    SG_FLIGHT_WATCH  /* likewise */
};

/* Something in flight, without the values that it carries. There is no padding, and unused fields
 * are zero, so that equal flights have equal bytes. */
struct sg_flight {
    int32_t from, to; /* of an access: from its initiator; of its reply: to the initiator */
    uint8_t kind;     /* enum sg_flight_kind */
    bool solicited, multicast;
    uint8_t asked; /* of an access, a FILL or DRAIN, and its reply: enum sg_action_kind */
    uint32_t tag;  /* of these; of a timer or watch: its id */
    struct sg_data into;
    uint32_t own; /* the scheduler's */
    union {
        struct sg_header header;
        struct {
            uint64_t value;
            uint32_t bytes, remote, count;
        } access; /* of a watch: remote, its cell; of a FILL or DRAIN: value, the post's handle,
                     remote, the slot, and count, the offset */
        uint64_t cells[8]; /* of a reply */
    };
};

struct sg_host {
    void *world; /* the scheduler's */
    const struct sg_host_scheduler *scheduler;
    const struct sg_algo *algo;
    uint64_t first;            /* parameters.first */
    struct sg_actions actions; /* the scheduler's memory for list and parts */
    uint64_t *marks;           /* how often each was reached */
    char wrong[64];            /* room for what is wrong */
};

/* Bytes of a post. */
struct sg_host_bytes {
    uint32_t handle, offset, bytes;
};

/* What a scheduler does with actions, after the host has carried out the endpoint's part of them.
 */
struct sg_host_scheduler {
    /* Before each action; false: neither this one nor the rest is carried out. */
    bool (*begin)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                  const struct sg_action *action);
    /* A message (to all others if it is a multicast) or an access leaves. values: of its parts, or
     * what it writes; NULL where there are none, and where payloads are not followed. */
    void (*launch)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                   const struct sg_flight *flight, const struct sg_value *values);
    /* A COPY or REDUCE is done. */
    const char *(*combine)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                           const struct sg_action *action);
    /* When a timer is to fire that a protocol sets to time_ns; its previous time is still stored.
     * NULL: at that time. */
    uint64_t (*set_timer)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                          uint32_t id, uint64_t time_ns);
    /* The watch has been set. May be NULL. */
    void (*watch)(struct sg_host *host, const struct sg_host_endpoint *endpoint, uint32_t id);
    void (*complete)(struct sg_host *host, const struct sg_host_endpoint *endpoint);
    /* seq: counted from 1. */
    void (*finish)(struct sg_host *host, const struct sg_host_endpoint *endpoint, uint32_t seq);
    /* A slice is over at the endpoint. NULL: nobody asks. */
    void (*end_slice)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                      const struct sg_slice *slice);
    /* Of posts; NULL where there are none. What bytes of a send are, from an offset on; where those
     * of a receive come from; and a DELIVER. The first two only where payloads are followed. */
    const char *(*fill)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                        const struct sg_host_bytes *bytes, struct sg_value *value);
    const char *(*drain)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                         const struct sg_host_bytes *bytes, const struct sg_value *value);
    const char *(*deliver)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                           const struct sg_action *action);
};

typedef void (*sg_host_handler)(void *state, const struct sg_event *event,
                                struct sg_actions *actions);

/* Lets a handler write its actions, and counts its marks. */
void sg_host_feed(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                  sg_host_handler handle, const struct sg_event *event);
/* Carries out these actions, up to the first that is wrong. */
const char *sg_host_carry_out(struct sg_host *host, const struct sg_host_endpoint *endpoint);
/* An access, FILL or DRAIN takes effect at its target, and becomes its reply if it has one. value:
 * what a WRITE writes or a READ reads; unused where payloads are not followed. */
const char *sg_host_access(struct sg_host *host, const struct sg_host_endpoint *target,
                           struct sg_flight *flight, struct sg_value *value);
/* The event of a message or a reply, without its time. */
struct sg_event sg_host_event(const struct sg_flight *flight);

#endif
