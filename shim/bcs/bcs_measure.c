/* Measures the slices of bcs (paper: BCS-MPI, section 5.2), and sends strobes and values down the
 * tree.
 *
 * A slice begins with its first strobe and ends here when its last one is over here and below. Its
 * local times end when everything that a strobe asked for has run here; the global ones, at
 * endpoint 0, end with the last DONE. Counts of descriptors cover the calls since the last slice's
 * strobe. */
#include "bcs/state.h"

/* Records the time since the current strobe, if it runs that microphase. */
static void put_time(struct sg_bcs *s, uint32_t phase, enum sg_slice_metric metric, uint64_t now_ns)
{
    if (s->strobe.mask & phase)
        sg_slice_put(&s->measure.slice, metric, now_ns - s->measure.strobe_ns);
}

void sg_bcs_measure_slice(struct sg_bcs *s, const struct sg_bcs_strobe *strobe, uint64_t now_ns,
                          struct sg_actions *actions)
{
    struct sg_bcs_measure *measure = &s->measure;
    struct sg_slice slice = {.number = strobe->slice, .begin_ns = now_ns};

    if (s->strobe.slice != SG_BCS_NO_SLICE) {
        sg_slice_put(&slice, SG_SLICE_LETTS, now_ns - measure->slice.begin_ns);
        slice.known |= s->rank == 0 ? 1u << SG_SLICE_GETTS : 0;
    }
    if (strobe->upto >= strobe->first)
        slice.first = strobe->first;
    sg_slice_put(&slice, SG_SLICE_NCOLLDEM, s->head.seq - measure->seen);
    sg_slice_put(&slice, SG_SLICE_NCOLLMSM, strobe->upto + 1 - strobe->first);
    if (s->rank == 0) {
        sg_slice_put(&slice, SG_SLICE_USRTS, measure->busy);
        sg_slice_put(&slice, SG_SLICE_USRDEM, 0);
        sg_slice_put(&slice, SG_SLICE_USRMSM, 0);
    }
    measure->seen = s->head.seq;
    measure->busy = 0;
    measure->slice = slice;
    actions->slice = &measure->slice;
    sg_emit(actions, SG_ACTION_BEGIN_SLICE);
}

void sg_bcs_measure_strobe(struct sg_bcs *s, const struct sg_bcs_strobe *strobe, uint64_t now_ns,
                           struct sg_actions *actions)
{
    s->measure.strobe_ns = now_ns;
    s->measure.has_run = false;
    /* Attributes the event to the most expensive routine. */
    if (strobe->mask & SG_BCS_REDUCE)
        sg_bcs_measure_routine(SG_ROUTINE_REDUCE, actions);
    else if (strobe->mask & SG_BCS_BROADCAST)
        sg_bcs_measure_routine(SG_ROUTINE_BROADCAST, actions);
    else
        sg_bcs_measure_routine(strobe->mask & SG_BCS_DESCRIPTORS ? SG_ROUTINE_DESCRIPTORS
                                                                 : SG_ROUTINE_MATCHING,
                               actions);
}

void sg_bcs_measure_run(struct sg_bcs *s, uint64_t now_ns)
{
    struct sg_slice *slice = &s->measure.slice;

    if (s->measure.has_run)
        return;
    s->measure.has_run = true;
    put_time(s, SG_BCS_DESCRIPTORS, SG_SLICE_LTDEM, now_ns);
    put_time(s, SG_BCS_SCHEDULING, SG_SLICE_LTMSM, now_ns);
    sg_slice_put(slice, SG_SLICE_LTTS, now_ns - slice->begin_ns);
}

void sg_bcs_measure_retry(struct sg_bcs *s)
{
    if (s->strobe.mask & SG_BCS_DESCRIPTORS)
        sg_slice_count(&s->measure.slice, SG_SLICE_USRDEM);
    if (s->strobe.mask & SG_BCS_SCHEDULING)
        sg_slice_count(&s->measure.slice, SG_SLICE_USRMSM);
}

void sg_bcs_measure_end(struct sg_bcs *s, uint64_t now_ns, struct sg_actions *actions)
{
    struct sg_slice *slice = &s->measure.slice;

    if (s->rank == 0) {
        put_time(s, SG_BCS_DESCRIPTORS, SG_SLICE_GTDEM, now_ns);
        put_time(s, SG_BCS_SCHEDULING, SG_SLICE_GTMSM, now_ns);
        sg_slice_put(slice, SG_SLICE_GTTS, now_ns - slice->begin_ns);
    }
    if (s->strobe.later > 0)
        return;
    if (s->rank == 0)
        s->measure.busy = (uint32_t)((now_ns - s->epoch_ns) / s->slice_ns - slice->number);
    actions->slice = slice;
    sg_emit(actions, SG_ACTION_END_SLICE);
}

/* ---- messages down the tree, and the instances that a strobe runs ---- */

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

/* >=: a child may be done with a strobe that has not arrived here yet. */
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

/* A value may arrive before the strobe; which children are done with the strobe is unknown until
 * then. */
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
