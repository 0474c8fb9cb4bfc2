/* How protocols write their actions: one function for each kind, appending to struct sg_actions. */
#ifndef SG_ALGOS_EMIT_H
#define SG_ALGOS_EMIT_H

#include "algos/algo.h"

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
