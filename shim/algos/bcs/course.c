/* The course of an instance that a strobe has scheduled: everybody has called it (paper: BCS-MPI,
 * section 4.4).
 *
 * A barrier is over with the strobe. Partial results climb the binomial tree of the root's position
 * in the hypercube, as srm's do; an allreduce's root is endpoint 0, which multicasts the result. So
 * the association is SG_SHAPE_DOUBLING.
 *
 * A broadcast's root multicasts its data. They also climb the tree of strobes to endpoint 0, from
 * which all repeats come; who is on that way takes them from there alone, and has run when it has
 * passed them on. They may be anywhere before the strobe.
 */
#include "algos/bcs/state.h"

/* Slots of an instance: one for each edge, and the value's. */
static struct sg_data part_slot(const struct sg_bcs *s, uint64_t seq, uint32_t edge)
{
    return sg_data_slot(sg_count_place(seq, s->credits) * (s->edges + 1) + edge);
}

static struct sg_data value_slot(const struct sg_bcs *s, uint64_t seq)
{
    return part_slot(s, seq, s->edges);
}

struct sg_data sg_bcs_result(const struct sg_bcs *s, uint64_t seq)
{
    return (struct sg_data){SG_DATA_RESULT, (uint16_t)sg_count_place(seq, s->credits)};
}

void sg_bcs_keep_operand(struct sg_bcs *s, struct sg_bcs_instance *instance,
                         struct sg_actions *actions)
{
    struct sg_data slot = value_slot(s, instance->seq);

    if (instance->value.kind != SG_DATA_OPERAND || instance->bytes == 0)
        return;
    sg_emit_copy(actions, instance->value, slot, instance->bytes);
    instance->value = slot;
    s->head.copies++;
}

static int32_t root_of(const struct sg_bcs_instance *instance)
{
    return instance->operation == SG_OPERATION_REDUCE ? instance->root : 0;
}

static void send_part(const struct sg_bcs *s, const struct sg_bcs_instance *instance, uint32_t edge,
                      bool is_result, struct sg_actions *actions)
{
    struct sg_header header = sg_bcs_header(instance, SG_BCS_PART);

    header.number[SG_BCS_EDGE] = edge;
    header.number[SG_BCS_IS_RESULT] = is_result;
    sg_emit_part(actions, instance->value);
    sg_emit_send(actions, sg_hypercube_partner(&s->cube, s->size, edge), &header)->solicited = true;
}

/* The result is there, in `data`: at its root, or at everybody. */
static void take_result(struct sg_bcs *s, struct sg_bcs_instance *instance, struct sg_data data,
                        struct sg_actions *actions)
{
    instance->value = sg_bcs_result(s, instance->seq);
    sg_emit_copy(actions, data, instance->value, instance->bytes);
    s->head.copies++;
    instance->has_result = true;
}

/* The root's result is there. */
static void end_reduce(struct sg_bcs *s, struct sg_bcs_instance *instance, struct sg_data data,
                       struct sg_actions *actions)
{
    take_result(s, instance, data, actions);
    instance->has_run = true;
    if (instance->operation == SG_OPERATION_ALLREDUCE && s->size > 1)
        sg_bcs_send_value(s, instance, actions);
}

static bool is_climbing(const struct sg_bcs *s, const struct sg_bcs_instance *instance)
{
    uint32_t relative =
        (uint32_t)(s->cube.position ^ sg_hypercube_position(root_of(instance), s->size));

    if (s->cube.position < 0 || instance->edge == s->edges)
        return false;
    return instance->edge < s->fold || !(relative >> (instance->edge - s->fold) & 1);
}

static void fold(struct sg_bcs *s, struct sg_bcs_instance *instance, struct sg_actions *actions)
{
    uint32_t edge = instance->edge;
    /* Who is folded into this endpoint comes before it. */
    bool left = edge < s->fold || (s->cube.position >> (edge - s->fold) & 1);
    struct sg_data part = part_slot(s, instance->seq, edge);
    struct sg_data into = value_slot(s, instance->seq);

    sg_emit_reduce(actions, left ? part : instance->value, left ? instance->value : part, into,
                   instance->bytes)
        ->data.seq = instance->seq;
    instance->value = into;
}

/* Folds what the partners below send. False: one of them has not. */
static bool climb(struct sg_bcs *s, struct sg_bcs_instance *instance, struct sg_actions *actions)
{
    while (is_climbing(s, instance)) {
        if (sg_hypercube_partner(&s->cube, s->size, instance->edge) >= 0) {
            if (!(instance->here >> instance->edge & 1))
                return false;
            fold(s, instance, actions);
        }
        instance->edge++;
    }
    return true;
}

static void reduce(struct sg_bcs *s, struct sg_bcs_instance *instance, struct sg_actions *actions)
{
    bool is_top;

    if (instance->sent || !climb(s, instance, actions))
        return;
    instance->sent = true;
    is_top = s->cube.position >= 0 && instance->edge == s->edges;
    if (is_top && root_of(instance) == s->rank) {
        end_reduce(s, instance, instance->value, actions);
        return;
    }
    /* The root is folded into the top, on edge 0. */
    send_part(s, instance, is_top ? 0 : instance->edge, is_top, actions);
    instance->has_run = instance->operation == SG_OPERATION_REDUCE && root_of(instance) != s->rank;
}

/* ---- broadcasts */

static bool is_on_way_up(const struct sg_bcs *s, const struct sg_bcs_instance *instance)
{
    return instance->operation == SG_OPERATION_BCAST &&
           sg_tree_toward(&s->place, s->degree, instance->root) >= 0;
}

static void broadcast(struct sg_bcs *s, struct sg_bcs_instance *instance,
                      struct sg_actions *actions)
{
    if (instance->root == s->rank && !instance->has_result && s->size > 1) {
        sg_bcs_keep_operand(s, instance, actions);
        instance->has_result = true;
        sg_bcs_send_value(s, instance, actions);
        if (s->rank > 0)
            sg_bcs_send_value_up(s, instance, actions);
    }
    instance->has_run = instance->has_result || s->size == 1;
}

/* ---- all */

void sg_bcs_run(struct sg_bcs *s, struct sg_bcs_instance *instance, struct sg_actions *actions)
{
    if (instance->operation == SG_OPERATION_BARRIER || instance->bytes == 0)
        instance->has_run = true;
    else if (instance->operation == SG_OPERATION_BCAST)
        broadcast(s, instance, actions);
    else
        reduce(s, instance, actions);
}

static void note_early(struct sg_bcs *s, const struct sg_bcs_instance *instance,
                       struct sg_actions *actions)
{
    if (sg_bcs_is_due(s, instance))
        return;
    s->head.early++;
    sg_emit_mark(actions, SG_MARK_EARLY);
}

/* Nobody sends one before all have called. */
void sg_bcs_take_part(struct sg_bcs *s, const struct sg_message *message,
                      struct sg_actions *actions)
{
    struct sg_bcs_instance *instance =
        sg_bcs_at(s, sg_count_told(s->head.seq, message->header.seq));
    uint32_t edge = message->header.number[SG_BCS_EDGE];

    sg_bcs_measure_routine(SG_ROUTINE_REDUCE, actions);
    if (message->header.number[SG_BCS_IS_RESULT]) {
        end_reduce(s, instance, sg_data_part(0), actions);
        return;
    }
    note_early(s, instance, actions);
    sg_emit_copy(actions, sg_data_part(0), part_slot(s, instance->seq, edge), instance->bytes);
    s->head.copies++;
    instance->here |= 1u << edge;
    if (sg_bcs_is_due(s, instance))
        sg_bcs_run(s, instance, actions);
}

void sg_bcs_take_value(struct sg_bcs *s, const struct sg_message *message,
                       struct sg_actions *actions)
{
    uint64_t seq = sg_count_told(s->head.seq, message->header.seq);
    struct sg_bcs_instance *instance = sg_bcs_at(s, seq);
    bool climbs = !message->multicast && sg_tree_toward(&s->place, s->degree, message->from) >= 0;

    if (instance->seq != seq || instance->has_result || (is_on_way_up(s, instance) && !climbs))
        return;
    sg_bcs_measure_routine(instance->operation == SG_OPERATION_BCAST ? SG_ROUTINE_BROADCAST
                                                                     : SG_ROUTINE_REDUCE,
                           actions);
    note_early(s, instance, actions);
    take_result(s, instance, sg_data_part(0), actions);
    if (climbs && s->rank > 0)
        sg_bcs_send_value_up(s, instance, actions);
    sg_bcs_repeat_value(s, instance, actions);
    instance->has_run = sg_bcs_is_due(s, instance);
}
