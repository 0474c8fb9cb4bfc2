#include "sim/timed/program.h"

#include "sim/timed/endpoint.h"

static struct endpoint *endpoint_of(struct world *world, int32_t process)
{
    return &world->endpoints[process / world->setup->ranks_per_node];
}

/* Resumed at that time. */
static void go_on(struct world *world, int32_t process, uint64_t time_ns)
{
    struct process *self = &world->processes[process];

    self->phase = PHASE_PROGRAM;
    self->work_end_ns = time_ns;
    sg_world_push(world, time_ns, EVENT_WORK_END, (uint32_t)process);
}

uint64_t sg_world_now_ns(const struct world *world)
{
    return world->now_ns;
}

void sg_world_post(struct world *world, int32_t process, const struct sg_algo_post *post)
{
    struct process *self = &world->processes[process];
    struct sg_algo_post own = *post;

    own.local = (uint16_t)(process % world->setup->ranks_per_node);
    own.number = ++self->posted;
    sg_endpoint_post(world, process, &own);
}

/* What it has posted takes its time. */
void sg_world_compute(struct world *world, int32_t process, uint64_t ns)
{
    go_on(world, process, later(world->now_ns, world->processes[process].posted_ns) + ns);
}

void sg_world_wait(struct world *world, int32_t process)
{
    world->processes[process].phase = PHASE_WAIT;
    sg_endpoint_poll(world, process);
}

void sg_world_resume(struct world *world, int32_t process)
{
    if (world->processes[process].phase != PHASE_WAIT) {
        sg_world_fail(world, SG_ERR_ARGUMENT, "sim: process %d is resumed and does not wait",
                      (int)process);
        return;
    }
    endpoint_of(world, process)->calling--;
    go_on(world, process, later(world->cursor_ns, world->now_ns));
}

void sg_world_call(struct world *world, int32_t process, const struct sg_algo_call *call)
{
    struct process *self = &world->processes[process];

    self->phase = PHASE_CALL;
    self->call = *call;
    self->chunk = 0;
    self->entry_ns = world->now_ns;
    sg_endpoint_enter(world, process);
}

void sg_world_end(struct world *world, int32_t process)
{
    world->processes[process].phase = PHASE_REST;
    world->last_exit_ns = world->now_ns;
    sg_endpoint_rest(world, process / world->setup->ranks_per_node);
    if (--world->remaining == 0)
        world->draining = true;
}
