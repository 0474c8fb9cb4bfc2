#include "sim/program/slices_state.h"

#include "core/room.h"

enum { EVENT_SLICE = SG_RUN_OWN };

void sg_sliced_want(struct sg_sliced_state *slices, uint64_t time_ns)
{
    uint64_t after_ns = time_ns > slices->end_ns ? time_ns : slices->end_ns;
    uint64_t boundary_ns = (after_ns / slices->slice_ns + 1) * slices->slice_ns;

    if (slices->alarm_ns <= boundary_ns)
        return;
    slices->alarm_ns = boundary_ns;
    sg_run_push(&slices->run, boundary_ns, EVENT_SLICE, 0);
}

bool sg_sliced_add_work(struct sg_sliced_state *slices, const struct sg_sliced_work *work)
{
    if (SG_APPEND(slices->work, slices->work_count, *work))
        return true;
    sg_run_fail(&slices->run, SG_ERR_MEMORY, "out of memory");
    return false;
}

void sg_sliced_done(struct sg_sliced_state *slices, int32_t process, uint32_t request,
                    uint64_t return_ns)
{
    if (sg_run_done(&slices->run, process, request, return_ns))
        sg_run_leave(&slices->run, process, slices->run.processes[process].return_ns);
}

void sg_sliced_steal(struct sg_sliced_state *slices, int32_t process, uint64_t ns)
{
    struct sg_sliced_process *self = &slices->processes[process];

    if (self->work_end_ns <= slices->run.now_ns)
        return;
    self->work_end_ns += ns;
    slices->run.result.busy_ns += (double)ns;
    slices->run.result.blocked_ns += (double)ns; /* which busy_ns is part of */
}
