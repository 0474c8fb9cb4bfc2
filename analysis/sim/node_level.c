/* The node level of timed runs. algos/partial_results.h decides which process arrives, waits or
 * calls; sim/network.h gives the times. With one process per node there is no node level.
 *
 * With several nodes, each rank stores its operand, the last rank folds all of them, and every
 * rank copies the result, as shim/internode does; setup->node_level may select another
 * algorithm. On a single node, ranks combine like srm in shim/intranode, and the protocol has
 * nothing left to do. */
#include "algos/partial_results.h"
#include "sim/timed_state.h"

#include <stdlib.h>

#define DEPTH 8

enum place { ELSEWHERE, WAITS, TOO_FAR_AHEAD };

struct node_level {
    unsigned char *locals;
    size_t stride;
    uint8_t *place; /* by process: enum place */
};

enum sg_status sg_node_level_setup(struct world *world)
{
    uint32_t ranks = (uint32_t)world->setup->ranks_per_node;
    size_t endpoints = (size_t)world->setup->endpoints;
    struct node_level *level;

    if (ranks == 1)
        return SG_OK;
    level = world->node_level = calloc(1, sizeof *level);
    if (level == NULL)
        return SG_ERR_MEMORY;
    level->stride = (sg_combining_bytes(ranks, DEPTH) + 7U) / 8 * 8;
    level->locals = calloc(endpoints, level->stride);
    level->place = calloc((size_t)world->process_count, sizeof *level->place);
    if (level->locals == NULL || level->place == NULL)
        return SG_ERR_MEMORY;
    for (size_t i = 0; i < endpoints; i++)
        sg_combining_init((struct sg_combining *)(level->locals + i * level->stride), ranks, DEPTH);
    return SG_OK;
}

void sg_node_level_clear(struct world *world)
{
    if (world->node_level == NULL)
        return;
    free(world->node_level->locals);
    free(world->node_level->place);
    free(world->node_level);
}

double sg_node_level_bytes(const struct world *world)
{
    return world->node_level != NULL
               ? (double)world->node_level->stride +
                     (double)world->setup->ranks_per_node * sizeof *world->node_level->place
               : 0;
}

static struct sg_combining *local_of(struct world *world, int32_t endpoint)
{
    struct node_level *level = world->node_level;

    return (struct sg_combining *)(level->locals + (size_t)endpoint * level->stride);
}

/* ---- costs ---- */

static uint32_t bytes_of(const struct world *world, uint32_t seq)
{
    return sg_chunking_bytes(&world->chunking, world->call.bytes, seq);
}

static bool is_alone(const struct world *world)
{
    return world->setup->endpoints == 1;
}

static bool is_read(const struct world *world)
{
    return world->call.operation == SG_OPERATION_BCAST && is_alone(world) &&
           world->call.bytes >= SG_NODE_SINGLE_BYTES;
}

static enum sg_node_level way_of(const struct world *world, uint32_t bytes)
{
    if (world->setup->node_level != SG_NODE_LEVEL_AUTO)
        return world->setup->node_level;
    return is_alone(world) ? sg_node_level_of((uint32_t)world->setup->ranks_per_node, bytes)
                           : SG_NODE_LEVEL_FLAT;
}

bool sg_node_level_places_result(const struct world *world)
{
    return world->node_level != NULL && is_alone(world) &&
           way_of(world, world->call.bytes) != SG_NODE_LEVEL_CLIMB;
}

static bool is_root(const struct world *world, int32_t process)
{
    return process == world->call.root * world->setup->ranks_per_node;
}

static uint64_t arrival_ns(const struct world *world, int32_t process,
                           const struct sg_combining_step *step)
{
    const struct sg_network *network = &world->network;
    uint32_t ranks = (uint32_t)world->setup->ranks_per_node, bytes = bytes_of(world, step->seq);
    bool last = step->result == SG_COMBINING_CALLS;

    if (is_read(world))
        return last ? sg_node_read_ns(network, bytes) : 0;
    if (world->call.operation == SG_OPERATION_BCAST)
        return is_root(world, process) ? sg_node_fill_ns(network, bytes) : 0;
    switch (way_of(world, bytes)) {
    case SG_NODE_LEVEL_FLAT:
        return last ? sg_node_flat_ns(network, ranks, bytes) : sg_node_store_ns(network, bytes);
    case SG_NODE_LEVEL_CHUNKS:
        return last ? sg_node_chunks_ns(network, ranks, bytes) : 0;
    default:
        return sg_node_climb_part_ns(network, step->folds, step->store, bytes);
    }
}

static bool gets_result(const struct world *world, int32_t process)
{
    return world->call.operation == SG_OPERATION_ALLREDUCE ||
           (world->call.operation == SG_OPERATION_REDUCE && is_root(world, process));
}

/* Time from the end of the instance until a rank has its result; late: the rank arrives after the
 * end. */
static uint64_t result_ns(const struct world *world, int32_t process, uint32_t seq, bool late)
{
    const struct endpoint *endpoint = &world->endpoints[process / world->setup->ranks_per_node];
    uint32_t bytes = bytes_of(world, seq);
    uint64_t seen_ns = process == endpoint->holder ? 0 : world->local_ns;

    if (world->call.operation == SG_OPERATION_BCAST)
        return is_root(world, process) || is_read(world)
                   ? 0
                   : sg_node_fetch_ns(&world->network, bytes, late || !is_alone(world));
    if (way_of(world, bytes) == SG_NODE_LEVEL_CLIMB)
        return seen_ns;
    if (is_alone(world))
        return 0;
    return seen_ns + (gets_result(world, process) ? sg_node_copy_ns(&world->network, bytes) : 0);
}

/* ---- processes ---- */

/* With chunks no rank leaves early: no data moves before all have arrived. */
static bool waits(const struct world *world, const struct sg_combining_step *step)
{
    return step->result == SG_COMBINING_WAITS ||
           (step->result == SG_COMBINING_LEAVES && world->call.operation == SG_OPERATION_REDUCE &&
            way_of(world, bytes_of(world, step->seq)) == SG_NODE_LEVEL_CHUNKS);
}

/* On the root's node of a reduce with flat, the root folds the operands or has the last rank fold
 * them, so that the last rank need not wait for the end. */
static bool leaves_as_last(const struct world *world, int32_t process,
                           const struct sg_combining_step *step)
{
    return step->result == SG_COMBINING_CALLS && world->call.operation == SG_OPERATION_REDUCE &&
           process / world->setup->ranks_per_node == world->call.root && !is_root(world, process) &&
           way_of(world, bytes_of(world, step->seq)) == SG_NODE_LEVEL_FLAT;
}

static uint64_t leaving_ns(const struct world *world, const struct sg_combining_step *step,
                           uint64_t begin_ns, uint64_t end_ns)
{
    if (step->result == SG_COMBINING_CALLS && is_alone(world))
        return begin_ns + sg_node_store_ns(&world->network, bytes_of(world, step->seq));
    return end_ns;
}

/* Processes that were too far ahead arrive again. */
static void let_on(struct world *world, int32_t endpoint, uint64_t time_ns)
{
    int32_t ranks = world->setup->ranks_per_node;

    for (int32_t process = endpoint * ranks; process < (endpoint + 1) * ranks; process++) {
        if (world->node_level->place[process] != TOO_FAR_AHEAD)
            continue;
        world->node_level->place[process] = ELSEWHERE;
        world->processes[process].work_end_ns = time_ns;
        sg_world_push(world, time_ns, EVENT_WORK_END, (uint32_t)process);
    }
}

bool sg_node_level_arrive(struct world *world, int32_t process, uint64_t *time_ns)
{
    const struct sg_algo_call *call = &world->call;
    int32_t ranks = world->setup->ranks_per_node;
    int32_t endpoint = process / ranks;
    uint64_t begin_ns = *time_ns;
    struct sg_combining_step step;

    if (world->node_level == NULL)
        return true;
    sg_combining_arrive(local_of(world, endpoint), (uint32_t)(process % ranks),
                        is_read(world) ? SG_OPERATION_BARRIER : call->operation,
                        endpoint == call->root ? 0 : -1, &step);
    if (step.result == SG_COMBINING_FULL) {
        world->node_level->place[process] = TOO_FAR_AHEAD;
        return false;
    }
    if (call->operation == SG_OPERATION_BCAST)
        let_on(world, endpoint, begin_ns);
    *time_ns += arrival_ns(world, process, &step);
    if (step.result == SG_COMBINING_LEAVES && call->operation == SG_OPERATION_BCAST)
        sg_chunk_left(world, process, *time_ns + result_ns(world, process, step.seq, true), true);
    else if (leaves_as_last(world, process, &step) ||
             (step.result == SG_COMBINING_LEAVES && !waits(world, &step)))
        sg_chunk_left(world, process, leaving_ns(world, &step, begin_ns, *time_ns), false);
    else
        world->node_level->place[process] = WAITS;
    return step.result == SG_COMBINING_CALLS;
}

void sg_node_level_complete(struct world *world, int32_t endpoint, uint64_t time_ns)
{
    int32_t ranks = world->setup->ranks_per_node;
    uint32_t seq;

    if (world->node_level == NULL) {
        sg_chunk_left(world, endpoint, time_ns, true);
        return;
    }
    sg_combining_complete(local_of(world, endpoint));
    seq = local_of(world, endpoint)->completed;
    for (int32_t process = endpoint * ranks; process < (endpoint + 1) * ranks; process++) {
        if (world->node_level->place[process] != WAITS)
            continue;
        world->node_level->place[process] = ELSEWHERE;
        sg_chunk_left(world, process, time_ns + result_ns(world, process, seq, false), true);
    }
    let_on(world, endpoint, time_ns);
}
