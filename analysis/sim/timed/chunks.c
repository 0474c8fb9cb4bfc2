#include "sim/timed/chunks.h"

/* Whether the process waits: at most `width` of its chunks may be under way, none at the end. */
static bool has_to_wait(const struct world *world, int32_t process)
{
    const struct process *self = &world->processes[process];
    const struct endpoint *endpoint = &world->endpoints[process / world->setup->ranks_per_node];
    uint32_t begun = self->iteration * world->chunking.count + self->chunk;
    uint32_t most = self->chunk < world->chunking.count ? world->chunking.width - 1 : 0;

    return world->chunking.width > 0 && self->stays && endpoint->finished < begun &&
           begun - endpoint->finished > most;
}

static void go_on(struct world *world, int32_t process, uint64_t time_ns)
{
    struct process *self = &world->processes[process];

    self->held = has_to_wait(world, process);
    if (self->held)
        return;
    if (self->chunk == world->chunking.count) {
        sg_world_exit(world, process, time_ns);
        return;
    }
    self->work_end_ns = time_ns;
    sg_world_push(world, time_ns, EVENT_WORK_END, (uint32_t)process);
}

void sg_chunk_left(struct world *world, int32_t process, uint64_t time_ns, bool stays)
{
    struct process *self = &world->processes[process];

    self->chunk++;
    self->stays = stays;
    go_on(world, process, time_ns);
}

void sg_chunk_finished(struct world *world, int32_t number, uint32_t seq)
{
    struct endpoint *endpoint = &world->endpoints[number];

    if (world->chunking.width == 0)
        return;
    endpoint->finished_beyond |= UINT64_C(1) << (seq - endpoint->finished - 1);
    while (endpoint->finished_beyond & 1) {
        endpoint->finished_beyond >>= 1;
        endpoint->finished++;
    }
}

void sg_chunks_go_on(struct world *world, int32_t number, uint64_t time_ns)
{
    int32_t ranks = world->setup->ranks_per_node;

    if (world->chunking.width == 0)
        return;
    for (int32_t process = number * ranks; process < (number + 1) * ranks; process++) {
        if (world->processes[process].held)
            go_on(world, process, time_ns);
    }
}
