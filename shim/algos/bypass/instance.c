/* The course of a bypass instance once it has begun: folding, passing on, leaving the call, ending
 * (see bypass.c).
 */
#include "algos/bypass/state.h"
#include "algos/emit.h"

/* ---- what and where ---- */

static int32_t parent_of(const struct bypass *s, uint32_t edge)
{
    return (int32_t)(((int64_t)s->rank - (INT64_C(1) << edge) + s->size) % s->size);
}

static bool any_order(const struct bypass *s, const struct instance *instance)
{
    return (instance->flags & SG_CALL_COMMUTATIVE) &&
           (s->arrival_order || (instance->flags & SG_CALL_EXACT));
}

/* Where partial results go. */
static struct sg_data target(const struct bypass *s, const struct instance *instance)
{
    uint32_t place = sg_count_place(instance->seq, s->credits);
    bool result = instance->root == s->rank && instance->parent < 0;

    return (struct sg_data){result ? SG_DATA_RESULT : SG_DATA_SLOT, (uint16_t)place};
}

static void copy_own(struct bypass *s, struct instance *instance, struct sg_data into,
                     struct sg_actions *actions)
{
    if (instance->bytes > 0) {
        sg_emit_copy(actions, instance->value, into, instance->bytes);
        s->head.copies++;
    }
    instance->value = into;
}

/* ---- leaving the call, and the instance's end ---- */

bool sg_bypass_next_is_free(const struct bypass *s, uint64_t seq)
{
    const struct instance *oldest = &s->ring[sg_count_place(seq + 1, s->credits)];

    return oldest->seq == 0 || oldest->root != s->rank;
}

static bool may_leave(const struct bypass *s, const struct instance *instance,
                      struct sg_actions *actions)
{
    if (!sg_bypass_next_is_free(s, instance->seq)) {
        sg_emit_mark(actions, SG_MARK_CREDIT_OUT);
        return false;
    }
    if (instance->root == s->rank)
        return instance->has_result || (instance->flags & SG_CALL_SPLIT);
    return instance->sent || (!s->lingering && !(instance->flags & SG_CALL_USER));
}

static void leave(struct bypass *s, struct instance *instance, struct sg_actions *actions)
{
    if (instance->value.kind == SG_DATA_OPERAND && !instance->sent)
        copy_own(s, instance, target(s, instance), actions);
    if (s->lingering)
        sg_emit_stop_timer(actions, SG_BYPASS_LINGER_TIMER);
    s->lingering = false;
    s->head.in_call = 0;
    sg_emit_complete(actions, instance->seq);
}

/* Leaves and ends what can be left and ended. */
void sg_bypass_conclude(struct bypass *s, struct instance *instance, struct sg_actions *actions)
{
    bool in_call = sg_bypass_is_in_call(s, instance);

    if (in_call && !may_leave(s, instance, actions))
        return;
    if (in_call)
        leave(s, instance, actions);
    if (!instance->sent || instance->unread || (instance->root == s->rank && !instance->has_result))
        return;
    if (instance->root == s->rank && !in_call)
        sg_emit_mark(actions, SG_MARK_SPLIT_FINISHED);
    sg_emit_finish(actions, instance->seq);
    instance->seq = 0;
    s->head.outstanding--;
}

/* ---- upwards ---- */

/* The value to another endpoint: in a message, or kept here until it has been pulled. */
static void pass_on(struct bypass *s, struct instance *instance, int32_t to,
                    enum sg_bypass_message eager, enum sg_bypass_message large,
                    struct sg_actions *actions)
{
    struct sg_header header = {.seq = (uint32_t)instance->seq, .operation = SG_OPERATION_REDUCE};

    if (sg_bypass_is_large(s, instance->bytes)) {
        if (instance->value.kind == SG_DATA_OPERAND)
            copy_own(s, instance, sg_data_slot(sg_bypass_take_pool_slot(s)), actions);
        header.kind = (uint8_t)large;
        header.number[0] = instance->value.index;
        header.number[1] = instance->bytes;
        instance->unread = true;
    } else {
        header.kind = (uint8_t)eager;
        header.bytes = instance->bytes;
        header.parts = instance->bytes > 0;
        if (header.parts > 0)
            sg_emit_part(actions, instance->value);
    }
    sg_emit_send(actions, to, &header)->solicited = true;
}

/* All children are in. */
static void gathered(struct bypass *s, struct instance *instance, uint64_t time_ns,
                     struct sg_actions *actions)
{
    instance->sent = true;
    if (instance->children)
        sg_bypass_observe(&s->sites[instance->site], time_ns - instance->entered_ns);
    if (instance->parent >= 0) {
        pass_on(s, instance, parent_of(s, (uint32_t)instance->parent), SG_BYPASS_CONTRIBUTION,
                SG_BYPASS_READY, actions);
    } else if (instance->root != s->rank) {
        s->head.forwarded++;
        pass_on(s, instance, instance->root, SG_BYPASS_RESULT, SG_BYPASS_RESULT_READY, actions);
    } else {
        if (instance->value.kind == SG_DATA_OPERAND)
            copy_own(s, instance, target(s, instance), actions);
        instance->has_result = true;
    }
}

/* ---- contributions ---- */

bool sg_bypass_may_fold(const struct bypass *s, const struct instance *instance, uint32_t edge)
{
    return any_order(s, instance) || edge == (uint32_t)__builtin_ctz(instance->pending);
}

void sg_bypass_fold(struct bypass *s, struct instance *instance, uint32_t edge, struct sg_data from,
                    struct sg_actions *actions)
{
    struct sg_data into = target(s, instance);

    if (instance->bytes > 0)
        sg_emit_reduce(actions, instance->value, from, into, instance->bytes)->data.seq =
            instance->seq;
    instance->value = into;
    instance->pending &= ~(1u << edge);
    s->consumed[edge]++;
    if (s->lingering && sg_bypass_is_in_call(s, instance))
        sg_emit_mark(actions, SG_MARK_LINGER_PAID);
}

/* Folds what waits in slots as far as the order allows. */
void sg_bypass_fold_waiting(struct bypass *s, struct instance *instance, struct sg_actions *actions)
{
    while (instance->pending & instance->waiting) {
        uint32_t edge = (uint32_t)__builtin_ctz(instance->pending & instance->waiting);
        struct early *early = sg_bypass_early(s, edge, instance->seq);

        if (!sg_bypass_may_fold(s, instance, edge))
            return;
        sg_bypass_fold(s, instance, edge, sg_data_slot(sg_bypass_early_slot(s, early)), actions);
        instance->waiting &= ~(1u << edge);
        early->seq = 0;
    }
}

/* After anything that may have brought an instance forward. */
void sg_bypass_advance(struct bypass *s, struct instance *instance, uint64_t time_ns,
                       struct sg_actions *actions)
{
    sg_bypass_fold_waiting(s, instance, actions);
    if (!instance->pending && !instance->sent)
        gathered(s, instance, time_ns, actions);
    sg_bypass_conclude(s, instance, actions);
}
