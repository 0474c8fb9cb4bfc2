/* The state of bypass: what bypass.c (calls and messages), instance.c (the course of an instance)
 * and state.c (layout, slots, the estimate of the linger) share. Holds no pointer: the arrays
 * behind it are found by offsets.
 */
#ifndef SG_ALGOS_BYPASS_STATE_H
#define SG_ALGOS_BYPASS_STATE_H

#include "algos/algo.h"
#include "algos/broadcast.h"
#include "algos/flow_control.h"

/* Edges of an endpoint: 2^0 .. 2^23 reach SG_ENDPOINTS_MAX. */
#define SG_BYPASS_EDGES 24

/* A reduction that has begun here and is not over. */
struct instance {
    uint64_t seq; /* 0: free */
    uint32_t bytes;
    uint32_t pending; /* edges whose contribution is not folded yet */
    uint32_t waiting; /* ... of these, those that wait in a slot */
    int32_t root;
    struct sg_data value; /* what has been folded so far */
    uint8_t flags;        /* SG_CALL_* */
    uint8_t site;
    int8_t parent;   /* the edge to it; -1: the top */
    bool children;   /* has any */
    bool sent;       /* all folded, and passed on or the result */
    bool unread;     /* ... but not pulled yet: the value's slot is still in use */
    bool has_result; /* the root's */
    uint64_t entered_ns;
};

/* A contribution that waits in a slot. */
struct early {
    uint64_t seq; /* 0: free */
    bool here;    /* false: being pulled */
};

/* How late the last child of a call site comes after the call: smoothed mean and mean deviation, as
 * TCP estimates round trips (RFC 6298). */
struct lateness {
    uint32_t mean_ns, deviation_ns;
    bool known;
};

struct bypass {
    struct sg_algo_head head;
    int32_t rank, size;
    uint32_t linger_ns, eager_bytes, edges;
    uint8_t credits;
    bool arrival_order, linger_auto;

    /* The call under way. */
    struct sg_algo_call call;
    bool begun, stalled, lingering;
    uint64_t entered_ns, linger_until_ns;

    uint64_t pool_used, pool_all;      /* one bit a slot */
    uint8_t reserved[SG_BYPASS_EDGES]; /* credits of the parents in use */
    uint8_t consumed[SG_BYPASS_EDGES]; /* credits of the children not given back yet */
    struct lateness sites[SG_SITES];

    struct sg_broadcast broadcast;
    struct sg_flow flow;    /* of broadcasts, by their own count */
    uint64_t broadcasts;    /* called */
    bool has_broadcast;     /* the broadcast under way: its data are where they belong */
    bool listens;           /* counts as outstanding */
    bool drains;            /* no call will come */
    struct instance ring[]; /* then struct early [edges][credits] */
};

/* Kinds of messages. A contribution that is READY is to be pulled from a slot; its parent says DONE
 * when it has been. The result goes from endpoint 0 to another root in the same two ways. */
enum sg_bypass_message {
    SG_BYPASS_CONTRIBUTION = 1,
    SG_BYPASS_READY,
    SG_BYPASS_DONE,
    SG_BYPASS_CREDIT,
    SG_BYPASS_RESULT,
    SG_BYPASS_RESULT_READY
};

#define SG_BYPASS_LINGER_TIMER 0

/* The instance, if it has begun here and is not over. */
static inline struct instance *sg_bypass_find(struct bypass *s, uint64_t seq)
{
    struct instance *instance = &s->ring[sg_count_place(seq, s->credits)];

    return instance->seq == seq ? instance : NULL;
}

static inline bool sg_bypass_is_in_call(const struct bypass *s, const struct instance *instance)
{
    return s->head.in_call && instance->seq == s->head.seq;
}

static inline bool sg_bypass_is_large(const struct bypass *s, uint32_t bytes)
{
    return bytes > s->eager_bytes;
}

/* ---- an instance that has begun (instance.c) ---- */

/* Whether the order lets the contribution of this edge be folded now. */
bool sg_bypass_may_fold(const struct bypass *state, const struct instance *instance, uint32_t edge);
void sg_bypass_fold(struct bypass *state, struct instance *instance, uint32_t edge,
                    struct sg_data from, struct sg_actions *actions);
/* Folds what waits in slots as far as the order allows. */
void sg_bypass_fold_waiting(struct bypass *state, struct instance *instance,
                            struct sg_actions *actions);
/* After a contribution: folds, passes on, leaves and ends as far as possible. The instance may be
 * over then. */
void sg_bypass_advance(struct bypass *state, struct instance *instance, uint64_t time_ns,
                       struct sg_actions *actions);
/* Whether the call after this one, should it be one with a result, has the place of it to itself.
 */
bool sg_bypass_next_is_free(const struct bypass *state, uint64_t seq);
/* Leaves and ends what can be left and ended. The instance may be over then. */
void sg_bypass_conclude(struct bypass *state, struct instance *instance,
                        struct sg_actions *actions);

/* ---- the state (state.c) ---- */

bool sg_bypass_needs(const struct sg_algo_setup *setup, struct sg_algo_needs *needs);
void sg_bypass_init(void *state, const struct sg_algo_setup *setup);
int sg_bypass_peers(const struct sg_algo_setup *setup, enum sg_operation operation, int32_t root,
                    int32_t *out, int capacity);

/* ---- slots: values of the ring, early contributions by edge, the pool ---- */

/* The entry of a contribution of this instance over this edge; seq 0: a free one. NULL: none. */
struct early *sg_bypass_early(struct bypass *state, uint32_t edge, uint64_t seq);
/* The edges over which a contribution of this instance is here. */
uint32_t sg_bypass_waiting(struct bypass *state, uint64_t seq);
uint32_t sg_bypass_early_slot(struct bypass *state, const struct early *early);
struct early *sg_bypass_early_at(struct bypass *state, uint32_t slot);
uint32_t sg_bypass_edge_of(const struct bypass *state, uint32_t slot);
/* A free slot of the pool; there must be one. */
uint32_t sg_bypass_take_pool_slot(struct bypass *state);
/* Does nothing where the slot is not one of the pool. */
void sg_bypass_free_pool_slot(struct bypass *state, uint32_t slot);

/* ---- the linger ---- */

void sg_bypass_observe(struct lateness *site, uint64_t late_ns);
/* How long to wait for children. A wait costs processor time, and so does the signal of a child
 * that comes later: bound_ns is its cost, so more is never worth while. */
uint32_t sg_bypass_linger(const struct lateness *site, uint32_t bound_ns);

#endif
