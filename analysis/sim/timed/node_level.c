/* The node level in timed runs (algos/combining.h): a step of a process costs local_us, a fold also
 * the time of the reduction. With one process on each node there is none.
 */
#include "sim/timed/node_level.h"

#include "algos/combining.h"

#include <stdlib.h>

#define DEPTH 8

struct node_level {
    unsigned char *locals;
    size_t stride;
    uint64_t *waiting; /* for each endpoint: local ranks that leave with the instance */
    uint64_t *full;    /* local ranks that are too far ahead to arrive */
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
    level->waiting = calloc(endpoints, sizeof *level->waiting);
    level->full = calloc(endpoints, sizeof *level->full);
    if (level->locals == NULL || level->waiting == NULL || level->full == NULL)
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
    free(world->node_level->waiting);
    free(world->node_level->full);
    free(world->node_level);
}

double sg_node_level_bytes(const struct world *world)
{
    return world->node_level != NULL
               ? (double)world->node_level->stride + 2 * sizeof *world->node_level->waiting
               : 0;
}

static struct sg_combining *local_of(struct world *world, int32_t endpoint)
{
    struct node_level *level = world->node_level;

    return (struct sg_combining *)(level->locals + (size_t)endpoint * level->stride);
}

static uint64_t cost_ns(const struct world *world, const struct sg_combining_step *step)
{
    double bytes = world->setup->call.bytes;
    double ns = step->folds * bytes * world->network.reduce_ns_per_byte;

    if (step->store)
        ns += bytes * world->network.copy_ns_per_byte;
    return (step->folds + 1) * world->local_ns + (uint64_t)(ns + 0.5);
}

bool sg_node_level_arrive(struct world *world, int32_t process, uint64_t *time_ns)
{
    const struct sg_algo_call *call = &world->setup->call;
    int32_t ranks = world->setup->ranks_per_node;
    int32_t endpoint = process / ranks;
    uint64_t bit = UINT64_C(1) << process % ranks;
    struct sg_combining_step step;

    if (world->node_level == NULL)
        return true;
    sg_combining_arrive(local_of(world, endpoint), (uint32_t)(process % ranks), call->operation,
                        endpoint == call->root ? 0 : -1, &step);
    if (step.result == SG_COMBINING_FULL) {
        world->node_level->full[endpoint] |= bit;
        return false;
    }
    *time_ns += cost_ns(world, &step);
    if (step.result == SG_COMBINING_LEAVES)
        sg_world_exit(world, process, *time_ns);
    else
        world->node_level->waiting[endpoint] |= bit;
    return step.result == SG_COMBINING_CALLS;
}

void sg_node_level_complete(struct world *world, int32_t endpoint, uint64_t time_ns)
{
    int32_t first = endpoint * world->setup->ranks_per_node;
    uint64_t waiting, full;

    if (world->node_level == NULL) {
        sg_world_exit(world, endpoint, time_ns);
        return;
    }
    waiting = world->node_level->waiting[endpoint];
    full = world->node_level->full[endpoint];
    world->node_level->waiting[endpoint] = world->node_level->full[endpoint] = 0;
    sg_combining_complete(local_of(world, endpoint));
    for (; waiting != 0; waiting &= waiting - 1) {
        int32_t process = first + __builtin_ctzll(waiting);
        bool fed = process == world->endpoints[endpoint].holder;

        /* The others see the release one step later. */
        sg_world_exit(world, process, time_ns + (fed ? 0 : world->local_ns));
    }
    for (; full != 0; full &= full - 1)
        sg_world_push(world, time_ns, EVENT_WORK_END, (uint32_t)(first + __builtin_ctzll(full)));
}
