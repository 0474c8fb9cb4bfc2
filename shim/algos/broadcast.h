/* Helpers that protocols between nodes share: broadcasts along a tree, sets of peers, and functions
 * that emit actions.
 *
 * Broadcasts (tree and bypass): the root sends its data to its children in the tree relative to it,
 * and each endpoint passes them on to its own. Data that arrive before the call wait in a slot.
 * With `bypass`, the delivering thread or handler passes them on at once, as it combines
 * contributions in a reduce (paper "Application-Bypass Reduction", section II, and the broadcast
 * that it cites); otherwise the call does.
 *
 * Broadcasts have numbers, the same at every endpoint: instances, or a separate count. Data of
 * number n wait at n modulo `credits`. So a root may begin n only when all endpoints have finished
 * n - credits, which its protocol ensures (flow control in release.h); all other waits are for
 * data. Part of a protocol's state: no pointers. */
#ifndef SG_ALGOS_BROADCAST_H
#define SG_ALGOS_BROADCAST_H

#include "algos/algo.h"

/* Header.kind of the data; a protocol's own kinds are lower. */
#define SG_BROADCAST_DATA 48

struct sg_broadcast {
    int32_t rank, size;
    uint32_t base, stride; /* slot of ring index p: base + p * stride */
    uint64_t called;       /* number of the last call */
    uint8_t credits;
    uint8_t degree;  /* of the tree (sg_branch_*) */
    bool bypass;     /* data that arrive before the call are passed on at once */
    bool is_waiting; /* the current call waits for its data */
    uint64_t here;   /* ring indices at which data wait, as bits: of the next number with that
                      * index */
};

void sg_broadcast_init(struct sg_broadcast *broadcast, const struct sg_algo_setup *setup,
                       int degree, bool bypass, uint32_t base, uint32_t stride);
/* Call of instance head->seq, with this broadcast number. The root sends. True: the call is
 * complete; at other endpoints, the result is in place. */
bool sg_broadcast_call(struct sg_broadcast *broadcast, struct sg_algo_head *head, uint64_t number,
                       const struct sg_algo_call *call, struct sg_actions *actions);
/* Takes data; last: number of the last call, broadcast or not. True: the current call is
 * complete. */
bool sg_broadcast_take(struct sg_broadcast *broadcast, struct sg_algo_head *head, uint64_t last,
                       const struct sg_message *message, struct sg_actions *actions);
/* True if this endpoint passes on data of that root. */
bool sg_broadcast_passes_on(const struct sg_broadcast *broadcast, int32_t root);

/* ---- sets of endpoints, for the `peers` functions of algo.h ----
 *
 * In increasing order, without duplicates, in the caller's memory. Pure. */

struct sg_peers {
    int32_t *out;
    int capacity;
    int count;
    bool is_short; /* some did not fit */
};

static inline struct sg_peers sg_peers_into(int32_t *out, int capacity)
{
    return (struct sg_peers){.out = out, .capacity = capacity};
}

/* Number of peers; -1: some did not fit. */
static inline int sg_peers_count(const struct sg_peers *peers)
{
    return peers->is_short ? -1 : peers->count;
}

void sg_peers_add(struct sg_peers *peers, int32_t peer);
/* Adds rank + distance and rank - distance, modulo size. */
void sg_peers_add_both(struct sg_peers *peers, int32_t rank, int32_t size, int32_t distance);
/* Adds rank's parent and children in the tree of that degree relative to top (sg_branch_*). */
void sg_peers_add_branch(struct sg_peers *peers, int32_t rank, int32_t size, int32_t top,
                         int degree);
/* The same in the contiguous tree of rank 0, also of degree 1. */
void sg_peers_add_tree(struct sg_peers *peers, int32_t rank, int32_t size, int degree);
/* The same over all tops: both neighbours at every distance between a child and its parent in the
 * contiguous tree of tree_size. */
void sg_peers_add_branches(struct sg_peers *peers, int32_t rank, int32_t size, int32_t tree_size,
                           int degree);
/* As sg_peers_add_branch, over all tops, and perhaps more. */
void sg_peers_add_tops(struct sg_peers *peers, int32_t rank, int32_t size, int degree);
/* Adds the partners on the edges of the hypercube. */
void sg_peers_add_hypercube(struct sg_peers *peers, int32_t rank, int32_t size);
/* Adds the peers of binomial trees relative to any endpoint: those at powers of two. */
void sg_peers_add_powers(struct sg_peers *peers, int32_t rank, int32_t size);

/* ---- functions that append one action each to struct sg_actions ------------------------------ */

static inline struct sg_data sg_data_slot(uint32_t index)
{
    return (struct sg_data){SG_DATA_SLOT, (uint16_t)index};
}

static inline struct sg_data sg_data_part(uint32_t index)
{
    return (struct sg_data){SG_DATA_PART, (uint16_t)index};
}

static inline struct sg_data sg_data_operand(void)
{
    return (struct sg_data){SG_DATA_OPERAND, 0};
}

static inline void sg_emit_mark(struct sg_actions *actions, enum sg_mark mark)
{
    actions->marks |= UINT64_C(1) << mark;
}

static inline struct sg_action *sg_emit(struct sg_actions *actions, enum sg_action_kind kind)
{
    struct sg_action *action;

    if (actions->count == actions->capacity)
        __builtin_trap(); /* more than SG_ACTIONS_MAX actions: the protocol is wrong */
    action = &actions->list[actions->count++];
    *action = (struct sg_action){.kind = (uint8_t)kind, .to = -1};
    return action;
}

/* Appends a part of the next message. */
static inline void sg_emit_part(struct sg_actions *actions, struct sg_data data)
{
    if (actions->parts_count == 2 * SG_ACTIONS_MAX)
        __builtin_trap();
    actions->parts[actions->parts_count++] = data;
}

/* The caller has just emitted header.parts parts. */
static inline struct sg_action *sg_emit_send(struct sg_actions *actions, int32_t to,
                                             const struct sg_header *header)
{
    struct sg_action *action = sg_emit(actions, SG_ACTION_SEND);

    action->to = to;
    action->send.header = *header;
    action->send.parts_at = actions->parts_count - header->parts;
    return action;
}

static inline struct sg_action *sg_emit_multicast(struct sg_actions *actions,
                                                  const struct sg_header *header)
{
    struct sg_action *action = sg_emit_send(actions, -1, header);

    action->kind = SG_ACTION_MULTICAST;
    return action;
}

static inline struct sg_action *sg_emit_copy(struct sg_actions *actions, struct sg_data from,
                                             struct sg_data into, uint32_t bytes)
{
    struct sg_action *action = sg_emit(actions, SG_ACTION_COPY);

    action->data.from = from;
    action->data.into = into;
    action->data.bytes = bytes;
    return action;
}

static inline void sg_emit_await(struct sg_actions *actions, struct sg_data from, uint32_t bytes,
                                 uint64_t stamp)
{
    struct sg_action *action = sg_emit(actions, SG_ACTION_AWAIT);

    action->data.from = from;
    action->data.bytes = bytes;
    action->data.stamp = stamp;
}

/* The caller sets data.seq: the instance whose operation it is. */
static inline struct sg_action *sg_emit_reduce(struct sg_actions *actions, struct sg_data left,
                                               struct sg_data right, struct sg_data into,
                                               uint32_t bytes)
{
    struct sg_action *action = sg_emit(actions, SG_ACTION_REDUCE);

    action->data.left = left;
    action->data.right = right;
    action->data.into = into;
    action->data.bytes = bytes;
    return action;
}

static inline void sg_emit_set_timer(struct sg_actions *actions, uint16_t id, uint64_t time_ns)
{
    struct sg_action *action = sg_emit(actions, SG_ACTION_SET_TIMER);

    action->id = id;
    action->timer.time_ns = time_ns;
}

static inline void sg_emit_stop_timer(struct sg_actions *actions, uint16_t id)
{
    sg_emit(actions, SG_ACTION_STOP_TIMER)->id = id;
}

static inline void sg_emit_complete(struct sg_actions *actions, uint64_t seq)
{
    sg_emit(actions, SG_ACTION_COMPLETE)->instance.seq = seq;
}

static inline void sg_emit_finish(struct sg_actions *actions, uint64_t seq)
{
    sg_emit(actions, SG_ACTION_FINISH)->instance.seq = seq;
}

#endif
