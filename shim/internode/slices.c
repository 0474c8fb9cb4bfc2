#include "internode/slices.h"

#include "core/clock.h"
#include "mpi/trace_events.h"

#include <string.h>
#include <time.h>

static bool are_told, are_timed;

void sg_slices_start(bool told, bool timed)
{
    are_told = told;
    are_timed = told && timed;
}

static struct sg_endpoint_slice *own(const struct sg_delivery *delivery)
{
    const struct sg_internode *internode = delivery->internode;

    return &sg_internode_endpoint(internode, internode->endpoint)->slices[delivery->protocol];
}

/* ---- processor time ---- */

static bool is_timed(const struct sg_delivery *delivery)
{
    return are_timed &&
           (delivery->internode->protocols[delivery->protocol].algo->uses & SG_ALGO_SLICES) != 0;
}

void sg_slices_begin_event(struct sg_delivery *delivery)
{
    if (is_timed(delivery))
        delivery->busy_ns = sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* What has been spent on the event up to now. */
static void add_time(struct sg_delivery *delivery, const struct sg_actions *actions)
{
    uint64_t now_ns;

    if (!is_timed(delivery) || actions->routine == 0 || delivery->told)
        return;
    now_ns = sg_clock_of_ns(CLOCK_THREAD_CPUTIME_ID);
    own(delivery)->routine_ns[actions->routine - 1] += now_ns - delivery->busy_ns;
    delivery->busy_ns = now_ns;
}

void sg_slices_end_event(struct sg_delivery *delivery, const struct sg_actions *actions)
{
    add_time(delivery, actions);
}

/* ---- slices ---- */

/* The instances that it runs know it: ranks read it when they leave them. */
void sg_slices_begin(const struct sg_delivery *delivery, const struct sg_actions *actions)
{
    struct sg_internode *internode = delivery->internode;
    const struct sg_slice *slice = actions->slice;
    uint32_t count = slice->value[sg_slice_place(SG_SLICE_NCOLLMSM)];

    own(delivery)->first_seq = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        struct sg_internode_instance *instance =
            sg_endpoint_find_instance(internode, delivery->protocol, slice->first + i);

        if (instance == NULL)
            continue;
        /* Relaxed: FINISH and COMPLETE come behind it. */
        atomic_store_explicit(&instance->slice, 1 + slice->number, memory_order_relaxed);
        if (i == 0 &&
            internode->names[instance->position % internode->depth].position == instance->position)
            own(delivery)->first_seq =
                internode->names[instance->position % internode->depth].call.seq;
    }
    own(delivery)->blocked = atomic_load_explicit(
        &sg_internode_endpoint(internode, internode->endpoint)->doorbell.inside,
        memory_order_relaxed);
}

void sg_slices_end(struct sg_delivery *delivery, const struct sg_actions *actions)
{
    struct sg_internode *internode = delivery->internode;
    struct sg_endpoint_slice *here = own(delivery);
    struct sg_slice slice = *actions->slice;

    if (!are_told)
        return;
    sg_slice_put(&slice, SG_SLICE_BPTS, here->blocked);
    add_time(delivery, actions);
    for (unsigned routine = 0; routine < SG_ROUTINES; routine++) {
        if (here->routine_ns[routine] > 0)
            sg_slice_put(&slice, SG_SLICE_LTR1 + routine, here->routine_ns[routine]);
    }
    memset(here->routine_ns, 0, sizeof here->routine_ns);
    delivery->told = true;
    sg_trace_event_slice(&(struct sg_told_slice){
        .slice = &slice,
        .first_seq = here->first_seq,
        .log = &internode->log,
        .now_ns = delivery->event->time_ns,
        .kept = &sg_internode_endpoint(internode, internode->endpoint)->slices_kept,
    });
}
