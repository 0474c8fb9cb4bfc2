/* Broadcasts along a tree, shared by the protocols that have them: tree and bypass.
 *
 * The root sends its data to its children in the tree relative to it, and an endpoint that gets
 * them passes them on to its own. Data of a call that has not been made here wait in a slot. With
 * `bypass` they are passed on at once, by whoever delivers them, as contributions are combined in a
 * reduce (paper "Application-Bypass Reduction", section II, and the broadcast that it cites);
 * otherwise in the call.
 *
 * Broadcasts have numbers, alike at every endpoint: instances, or a count of their own. Data of
 * number n wait at n modulo `credits`. So a root may only begin n when all endpoints have finished
 * n - credits, which is its protocol's business (flow_control.h); nobody else ever waits for
 * anything but the data. Part of a protocol's state: no pointers.
 */
#ifndef SG_ALGOS_BROADCAST_H
#define SG_ALGOS_BROADCAST_H

#include "algos/algo.h"

/* Header.kind of the data; a protocol's own are below. */
#define SG_BROADCAST_DATA 48

struct sg_broadcast {
    int32_t rank, size;
    uint32_t base, stride; /* slot of place p: base + p * stride */
    uint64_t called;       /* number of the last call */
    uint8_t credits;
    uint8_t degree;  /* of the tree (sg_branch_*) */
    bool bypass;     /* what comes before its call is passed on at once */
    bool is_waiting; /* the call under way, for its data */
    uint64_t here;   /* places where data wait, by bit: of the next number that belongs there */
};

void sg_broadcast_init(struct sg_broadcast *broadcast, const struct sg_algo_setup *setup,
                       int degree, bool bypass, uint32_t base, uint32_t stride);
/* Call of instance head->seq, with this number. At the root: sends. True: it is complete, with the
 * result of an endpoint that is not the root there. */
bool sg_broadcast_call(struct sg_broadcast *broadcast, struct sg_algo_head *head, uint64_t number,
                       const struct sg_algo_call *call, struct sg_actions *actions);
/* Data came; last: the number of the last call, broadcast or not. True: the call under way is
 * complete. */
bool sg_broadcast_take(struct sg_broadcast *broadcast, struct sg_algo_head *head, uint64_t last,
                       const struct sg_message *message, struct sg_actions *actions);
/* Whether this endpoint passes data of that root on. */
bool sg_broadcast_passes_on(const struct sg_broadcast *broadcast, int32_t root);

/* Sets of endpoints, for the functions `peers` of algo.h: in increasing order, each once, in memory
 * of the caller's. Pure.
 */

struct sg_peers {
    int32_t *out;
    int capacity;
    int count;
    bool is_short; /* there was no room for all */
};

static inline struct sg_peers sg_peers_into(int32_t *out, int capacity)
{
    return (struct sg_peers){.out = out, .capacity = capacity};
}

/* How many they are; -1: there was no room. */
static inline int sg_peers_count(const struct sg_peers *peers)
{
    return peers->is_short ? -1 : peers->count;
}

void sg_peers_add(struct sg_peers *peers, int32_t peer);
/* rank + distance and rank - distance, modulo size. */
void sg_peers_add_both(struct sg_peers *peers, int32_t rank, int32_t size, int32_t distance);
/* Parent and children of rank in the tree of that degree relative to top (sg_branch_*). */
void sg_peers_add_branch(struct sg_peers *peers, int32_t rank, int32_t size, int32_t top,
                         int degree);
/* The same in the contiguous tree of rank 0, of degree 1 too. */
void sg_peers_add_tree(struct sg_peers *peers, int32_t rank, int32_t size, int degree);
/* The same over all tops: every distance between a child and its parent in the contiguous tree
 * of tree_size. */
void sg_peers_add_branches(struct sg_peers *peers, int32_t rank, int32_t size, int32_t tree_size,
                           int degree);
/* Partners on the edges of the hypercube. */
void sg_peers_add_hypercube(struct sg_peers *peers, int32_t rank, int32_t size);
/* Of a binomial tree relative to any endpoint: the powers of two. */
void sg_peers_add_powers(struct sg_peers *peers, int32_t rank, int32_t size);

/* How protocols write their actions: one function for each kind, appending to struct sg_actions. */

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
        __builtin_trap(); /* SG_ACTIONS_MAX does not hold: the protocol is wrong */
    action = &actions->list[actions->count++];
    *action = (struct sg_action){.kind = (uint8_t)kind, .to = -1};
    return action;
}

/* The next part of the message that is emitted next. */
static inline void sg_emit_part(struct sg_actions *actions, struct sg_data data)
{
    if (actions->parts_count == 2 * SG_ACTIONS_MAX)
        __builtin_trap();
    actions->parts[actions->parts_count++] = data;
}

/* Header.parts parts have been emitted just before. */
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

/* The caller sets data.seq: whose operation it is. */
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
