/* The host that algo.h speaks of, as far as all who schedule are alike: what a handler's actions do
 * to its endpoint's buffers, timers and watches, and what an access does to the memory of its
 * target. When what is sent arrives, what an action costs and which event comes next a scheduler
 * decides: in virtual time (timed/), at random (explore/) or in every order (exhaustive/).
 *
 * Functions give NULL, or say in a few words what is wrong with what a protocol asked for.
 */
#ifndef SG_SIM_HOST_HOST_H
#define SG_SIM_HOST_HOST_H

#include "sim/host/payload.h"

#define SG_TIMER_UNSET UINT64_MAX

struct sg_host_watch {
    uint64_t value;
    uint32_t cell;
    bool set, solicited;
};

/* Endpoints of the largest communicator of which it is followed who names whom. */
#define SG_HOST_PEERS_MAX 128

/* Bit to % 64 of named[from][to / 64]: `from` may name `to`, by the protocol's own word (algo.h,
 * peers); all where it gives none. Zero to begin with. */
struct sg_host_peers {
    uint64_t named[SG_HOST_PEERS_MAX][SG_HOST_PEERS_MAX / 64];
};

/* Adds those of a call. */
void sg_host_add_peers(struct sg_host_peers *peers, const struct sg_algo *algo, int32_t size,
                       const struct sg_algo_parameters *parameters,
                       const struct sg_algo_call *call);

/* What actions reach of an endpoint; the memory is the scheduler's. */
struct sg_host_endpoint {
    void *owner; /* the scheduler's own of it */
    int32_t rank, size;
    const struct sg_host_peers *peers; /* NULL: not followed */
    struct sg_payload *payload;        /* NULL: payloads are not followed */
    uint64_t *timer_ns;                /* SG_TIMERS; SG_TIMER_UNSET */
    uint64_t *cells;
    struct sg_host_watch *watches; /* SG_WATCHES */
    uint32_t cells_count, parts_most;
};

/* A one-sided action on its way; without padding, so that equal ones have equal bytes. */
struct sg_host_access {
    uint64_t value;
    uint32_t bytes, remote, count, tag;
    struct sg_data into;
    uint32_t kind; /* enum sg_action_kind */
};

struct sg_host {
    void *world; /* the scheduler's */
    const struct sg_host_scheduler *scheduler;
    const struct sg_algo *algo;
    struct sg_actions actions; /* list and parts are the scheduler's memory */
    uint64_t *marks;           /* how often each was reached */
};

/* What comes of actions once they have been done as far as the endpoint goes. */
struct sg_host_scheduler {
    /* Before each; false: neither this one nor the rest is carried out. */
    bool (*begin)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                  const struct sg_action *action);
    /* SEND and MULTICAST; values: what its parts hold, NULL where that is not followed. */
    void (*send)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                 const struct sg_action *action, const struct sg_value *values);
    /* One-sided; value: what it writes, NULL if nothing or not followed. */
    void (*access)(struct sg_host *host, const struct sg_host_endpoint *endpoint, int32_t to,
                   const struct sg_host_access *access, const struct sg_value *value);
    /* A COPY or REDUCE is done. */
    const char *(*combine)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                           const struct sg_action *action);
    /* When a timer is to fire that a protocol sets to time_ns; its last time is still there. */
    uint64_t (*set_timer)(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                          uint32_t id, uint64_t time_ns);
    /* The watch is placed. */
    void (*watch)(struct sg_host *host, const struct sg_host_endpoint *endpoint, uint32_t id);
    void (*complete)(struct sg_host *host, const struct sg_host_endpoint *endpoint);
    void (*finish)(struct sg_host *host, const struct sg_host_endpoint *endpoint, uint32_t seq);
};

typedef void (*sg_host_handler)(void *state, const struct sg_event *event,
                                struct sg_actions *actions);

/* Lets a handler write its actions, and counts its marks. */
void sg_host_feed(struct sg_host *host, void *state, sg_host_handler handle,
                  const struct sg_event *event);

/* May the endpoint name that one? */
bool sg_host_may_name(const struct sg_host_endpoint *endpoint, int32_t to);

/* Carries out what it wrote, up to the first that is wrong. */
const char *sg_host_carry_out(struct sg_host *host, const struct sg_host_endpoint *endpoint);

/* An access takes effect at its target. value: what a WRITE brings and a READ gets, unused where
 * payloads are not followed; cells: what FETCH_ADD and READ_CELLS find. */
const char *sg_host_access(const struct sg_host_endpoint *target,
                           const struct sg_host_access *access, struct sg_value *value,
                           uint64_t cells[8]);
/* Has such an access an answer? */
bool sg_host_is_answered(uint32_t kind);

#endif
