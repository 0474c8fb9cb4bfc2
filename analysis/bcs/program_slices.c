
#include "algos/parameters.h"
#include "algos/tree.h"
#include "bcs/program_run.h"
#include "core/room.h"

#include <stdlib.h>

/* ---- posts */

static uint64_t climb_ns(const struct sg_sliced_state *slices, int32_t rank, int32_t size)
{
    return slices->hop_ns * (uint64_t)sg_tree_find(rank, size, SG_DEGREE_BARRIER).depth;
}

static bool add_fresh(struct sg_sliced_state *slices, const struct sg_run_post *post)
{
    if (SG_APPEND(slices->fresh, slices->fresh_count, *post))
        return true;
    sg_run_fail(&slices->run, SG_ERR_MEMORY, "out of memory");
    return false;
}

static void post_message(struct sg_sliced_state *slices, int32_t process,
                         const struct sg_step *call, bool own)
{
    bool sends = call->kind == SG_STEP_SEND || call->kind == SG_STEP_ISEND;
    uint64_t time_ns = slices->run.now_ns + slices->post_ns;
    struct sg_run_post post = {
        .time_ns = time_ns,
        .bytes = call->bytes,
        .from = sends ? process : call->peer,
        .to = sends ? call->peer : process,
        .comm = call->comm,
        .tag = call->tag,
        .request = sg_run_request(&slices->run, process, own),
        .data = sends,
    };

    add_fresh(slices, &post);
    /* Endpoint 0 must learn of the post, unless it strobes at every boundary anyway. */
    sg_sliced_want(slices,
                   time_ns + (slices->setup->always
                                  ? 0
                                  : climb_ns(slices, process, slices->run.program->processes)));
}

static void post_collective(struct sg_sliced_state *slices, int32_t process,
                            const struct sg_step *call)
{
    struct sg_sliced_comm *comm = &slices->comms[call->comm];
    int32_t size = slices->run.program->comms[call->comm].size;
    uint64_t known_ns = slices->run.now_ns + slices->post_ns + climb_ns(slices, call->own, size);
    struct sg_sliced_work work = {.bytes = call->bytes,
                                  .root = call->peer,
                                  .comm = call->comm,
                                  .operation = call->operation,
                                  .collective = true};

    comm->requests[call->own] = sg_run_request(&slices->run, process, true);
    comm->ready_ns = known_ns > comm->ready_ns ? known_ns : comm->ready_ns;
    if (++comm->called < size)
        return;
    work.ready_ns = comm->ready_ns;
    comm->called = 0;
    comm->ready_ns = 0;
    sg_sliced_add_work(slices, &work);
    sg_sliced_want(slices, work.ready_ns);
}

/* ---- processes */

/* Returns a computing process's time for a strobe: it receives and answers the strobe, and receives
 * its children's DONE messages, about together. */
static uint64_t strobe_cost_ns(const struct sg_sliced_state *slices, int32_t process)
{
    struct sg_tree_place place =
        sg_tree_find(process, slices->run.program->processes, SG_DEGREE_BARRIER);
    uint64_t children = (uint64_t)sg_tree_children(&place, SG_DEGREE_BARRIER);

    return sg_network_ns(slices->network.wake_us) * (1 + (children > 0)) +
           slices->overhead_ns * (2 + children);
}

static void compute(struct sg_sliced_state *slices, int32_t process, uint64_t ns)
{
    struct sg_sliced_process *self = &slices->processes[process];
    uint64_t begin_ns = slices->run.now_ns, strobes;

    self->work_end_ns = begin_ns + ns;
    sg_sliced_steal(slices, process, self->owed_ns);
    self->owed_ns = 0;
    if (slices->setup->on_host && slices->setup->always) {
        strobes = self->work_end_ns / slices->slice_ns - begin_ns / slices->slice_ns;
        sg_sliced_steal(slices, process, strobes * strobe_cost_ns(slices, process));
    }
    sg_run_push(&slices->run, self->work_end_ns, SG_RUN_RESUME, (uint32_t)process);
}

static void call(struct sg_sliced_state *slices, int32_t process, const struct sg_step *call)
{
    struct sg_run *run = &slices->run;
    uint64_t posted_ns = run->now_ns;
    bool waits = sg_step_waits(call);

    sg_run_enter(run, process);
    run->result.blocking_calls += waits;
    if (call->kind != SG_STEP_WAIT && call->kind != SG_STEP_WAITALL) {
        posted_ns += slices->post_ns;
        run->result.busy_ns += (double)slices->post_ns;
    }
    if (call->kind == SG_STEP_COLLECTIVE)
        post_collective(slices, process, call);
    else if (call->kind == SG_STEP_SEND || call->kind == SG_STEP_RECV)
        post_message(slices, process, call, true);
    else if (!waits)
        post_message(slices, process, call, false);
    if (!waits || sg_run_wait_for(run, process, call, posted_ns))
        sg_run_leave(run, process, waits ? run->processes[process].return_ns : posted_ns);
}

static void resume(struct sg_sliced_state *slices, int32_t process)
{
    struct sg_sliced_process *self = &slices->processes[process];
    struct sg_step step;

    if (self->work_end_ns > slices->run.now_ns) {
        sg_run_push(&slices->run, self->work_end_ns, SG_RUN_RESUME, (uint32_t)process);
        return;
    }
    step = sg_run_next(&slices->run, process);
    if (step.kind == SG_STEP_COMPUTE)
        compute(slices, process, step.ns);
    else if (step.kind != SG_STEP_END)
        call(slices, process, &step);
}

/* ---- a run */

static void set_times(struct sg_sliced_state *slices)
{
    const struct sg_sliced_setup *setup = slices->setup;

    slices->network = *setup->network;
    slices->post_ns = sg_network_ns(slices->network.post_us);
    if (!setup->on_host)
        slices->network.overhead_us = slices->network.signal_us = slices->network.wake_us =
            slices->network.local_us = 0;
    slices->overhead_ns = sg_network_ns(slices->network.overhead_us);
    slices->strobe_ns =
        slices->run.program->processes > 1 ? sg_network_multicast_ns(&slices->network, 0) : 0;
    slices->hop_ns = sg_network_ns(slices->network.latency_us) + 2 * slices->overhead_ns;
    slices->agent_ns = sg_network_ns(slices->network.agent_us);
    slices->query_ns = sg_network_ns(slices->network.query_us);
    slices->slice_ns = setup->slice_ns;
    slices->budget_bytes = setup->budget_bytes > 0 ? setup->budget_bytes : SG_SLICED_BUDGET_DEFAULT;
    slices->depth = sg_tree_depth(slices->run.program->processes, SG_DEGREE_BARRIER);
    slices->alarm_ns = SG_RUN_PENDING;
}

static bool allocate(struct sg_sliced_state *slices)
{
    const struct sg_program *program = slices->run.program;

    slices->processes = calloc((size_t)program->processes, sizeof *slices->processes);
    slices->comms = calloc(program->comm_count, sizeof *slices->comms);
    if (slices->processes == NULL || slices->comms == NULL)
        return false;
    for (uint32_t i = 0; i < program->comm_count; i++) {
        slices->comms[i].requests =
            calloc((size_t)program->comms[i].size, sizeof *slices->comms[i].requests);
        if (slices->comms[i].requests == NULL)
            return false;
    }
    return true;
}

static void clear(struct sg_sliced_state *slices)
{
    sg_run_close(&slices->run);
    for (uint32_t i = 0; i < slices->run.program->comm_count && slices->comms != NULL; i++)
        free(slices->comms[i].requests);
    free(slices->comms);
    free(slices->processes);
    free(slices->fresh);
    free(slices->work);
}

enum sg_status sg_sliced_run(const struct sg_sliced_setup *setup, const struct sg_program *program,
                             struct sg_program_result *result)
{
    struct sg_sliced_state slices = {.setup = setup};
    enum sg_status status = sg_run_open(program, &slices.run);
    struct sg_queue_entry entry;

    set_times(&slices);
    if (status == SG_OK && !allocate(&slices))
        sg_run_fail(&slices.run, SG_ERR_MEMORY, "out of memory");
    while (sg_run_pop(&slices.run, &entry)) {
        if (entry.kind == SG_RUN_RESUME) {
            resume(&slices, (int32_t)entry.index);
        } else if (entry.time_ns == slices.alarm_ns) {
            slices.alarm_ns = SG_RUN_PENDING;
            sg_sliced_begin(&slices);
        }
    }
    status = sg_run_finish(&slices.run, result);
    clear(&slices);
    return status;
}
