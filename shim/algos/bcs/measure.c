/* What bcs says of its slices (paper: BCS-MPI, section 5.2): when each begins and ends here, and in
 * between the metrics that follow from the times of events.
 *
 * A slice begins with its first strobe and ends here when its last one is over here and below. Its
 * local times end when what a strobe asked for has run here, the global ones, at endpoint 0, with
 * the last DONE. Counts of descriptors are of what was called since the last slice's strobe.
 */
#include "algos/bcs/state.h"

/* The time of the strobe under way, if it runs that microphase. */
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
    /* What takes most of it. */
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
