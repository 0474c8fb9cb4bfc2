/* What bcs sends to those below, and what a strobe is about: of both the course of an instance and
 * the slices.
 */
#include "algos/bcs/state.h"

uint32_t sg_bcs_phase_of(const struct sg_bcs_instance *instance)
{
    return instance->operation == SG_OPERATION_BARRIER || instance->operation == SG_OPERATION_BCAST
               ? SG_BCS_BROADCAST
               : SG_BCS_REDUCE;
}

static bool is_scheduled(const struct sg_bcs *s, const struct sg_bcs_instance *instance)
{
    return instance->seq >= s->strobe.first && instance->seq <= s->strobe.upto;
}

bool sg_bcs_is_due(const struct sg_bcs *s, const struct sg_bcs_instance *instance)
{
    return is_scheduled(s, instance) && (sg_bcs_phase_of(instance) & s->strobe.mask);
}

/* A child may be done with a strobe that is yet to come here. */
bool sg_bcs_is_done(const struct sg_bcs *s, int child)
{
    return s->done[child] >= s->strobe.index;
}

void sg_bcs_send_below(const struct sg_bcs *s, const struct sg_header *header, struct sg_data part,
                       struct sg_actions *actions)
{
    for (int child = 0; child < s->children; child++) {
        if (sg_bcs_is_done(s, child))
            continue;
        if (header->parts > 0)
            sg_emit_part(actions, part);
        sg_emit_send(actions, sg_bcs_child(s, child), header)->solicited = true;
    }
}

struct sg_header sg_bcs_header(const struct sg_bcs_instance *instance, enum sg_bcs_kind kind)
{
    return (struct sg_header){
        .seq = (uint32_t)instance->seq,
        .kind = (uint8_t)kind,
        .operation = instance->operation,
        .flags = instance->flags,
        .parts = 1,
        .bytes = instance->bytes,
    };
}

void sg_bcs_send_value(struct sg_bcs *s, struct sg_bcs_instance *instance,
                       struct sg_actions *actions)
{
    struct sg_header header = sg_bcs_header(instance, SG_BCS_VALUE);

    if (!s->strobe.repeated) {
        sg_emit_part(actions, instance->value);
        sg_emit_multicast(actions, &header)->solicited = true;
        return;
    }
    instance->repeated = true;
    sg_bcs_send_below(s, &header, instance->value, actions);
}

static bool is_for_all(const struct sg_bcs_instance *instance)
{
    return instance->operation == SG_OPERATION_ALLREDUCE ||
           instance->operation == SG_OPERATION_BCAST;
}

/* A value may be here before the strobe: who is done with that is not known before. */
void sg_bcs_repeat_value(struct sg_bcs *s, struct sg_bcs_instance *instance,
                         struct sg_actions *actions)
{
    if (s->strobe.repeated && sg_bcs_is_due(s, instance) && instance->has_result &&
        !instance->repeated && is_for_all(instance))
        sg_bcs_send_value(s, instance, actions);
}

void sg_bcs_send_value_up(const struct sg_bcs *s, const struct sg_bcs_instance *instance,
                          struct sg_actions *actions)
{
    struct sg_header header = sg_bcs_header(instance, SG_BCS_VALUE);

    sg_emit_part(actions, instance->value);
    sg_emit_send(actions, s->place.parent, &header)->solicited = true;
}
