/* A world's memory: what it takes is known at the start, but for what is in flight. */
#include "core/hash.h"
#include "sim/node_level.h"
#include "sim/world_impl.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64
#define FIRST_ITEMS 1024

static size_t round_up(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* ---- items */

static bool grow_items(struct world *world)
{
    uint32_t capacity = world->items_capacity + world->items_capacity / 2 + FIRST_ITEMS;
    struct item *items = realloc(world->items, capacity * sizeof *items);

    if (items == NULL)
        return false;
    world->items = items;
    world->items_capacity = capacity;
    return true;
}

uint32_t sg_item_alloc(struct world *world, const struct item *item)
{
    uint32_t index = world->items_free;

    if (index != NONE) {
        world->items_free = world->items[index].next;
    } else {
        if (world->items_used == world->items_capacity && !grow_items(world)) {
            sg_world_fail(world, SG_ERR_MEMORY, "sim: out of memory");
            return NONE;
        }
        index = world->items_used++;
    }
    world->items[index] = *item;
    return index;
}

void sg_item_release(struct world *world, uint32_t index)
{
    world->items[index].next = world->items_free;
    world->items[index].parts = NULL;
    world->items_free = index;
}

/* ---- the whole */

static struct sg_algo_setup algo_setup(const struct sg_world_setup *setup, int32_t rank)
{
    return (struct sg_algo_setup){
        .rank = rank, .size = setup->endpoints, .parameters = setup->parameters};
}

bool sg_world_accepts(const struct sg_world_setup *setup)
{
    struct sg_algo_setup first = algo_setup(setup, 0);
    struct sg_algo_needs needs;

    return (setup->algo->operations & 1U << setup->call.operation) != 0 &&
           setup->algo->needs(&first, &needs);
}

/* Endpoints may need different amounts; all get the most. */
static enum sg_status find_needs(struct world *world)
{
    const struct sg_world_setup *setup = world->setup;

    for (int32_t i = 0; i < setup->endpoints; i++) {
        struct sg_algo_setup one = algo_setup(setup, i);
        struct sg_algo_needs needs;

        if (!setup->algo->needs(&one, &needs)) {
            sg_log("sim: %s does not take these parameters with %d nodes", setup->algo->name,
                   (int)setup->endpoints);
            return SG_ERR_ARGUMENT;
        }
        if (needs.state_bytes > world->needs.state_bytes)
            world->needs.state_bytes = needs.state_bytes;
        if (needs.slots > world->needs.slots)
            world->needs.slots = needs.slots;
        if (needs.cells > world->needs.cells)
            world->needs.cells = needs.cells;
    }
    return SG_OK;
}

static void set_times(struct world *world)
{
    const struct sg_network *network = world->setup->network;

    world->network = *network;
    world->latency_ns = sg_network_ns(network->latency_us);
    world->overhead_ns = sg_network_ns(network->overhead_us);
    world->signal_ns = sg_network_ns(network->signal_us);
    world->local_ns = sg_network_ns(network->local_us);
    world->loopback_ns =
        sg_network_ns(network->loopback_us > 0 ? network->loopback_us : network->latency_us / 2);
}

static enum sg_status allocate(struct world *world)
{
    size_t endpoints = (size_t)world->setup->endpoints;

    world->state_stride = round_up(world->needs.state_bytes);
    world->states = aligned_alloc(ALIGNMENT, endpoints * world->state_stride);
    world->endpoints = calloc(endpoints, sizeof *world->endpoints);
    world->processes = calloc((size_t)world->process_count, sizeof *world->processes);
    world->list = calloc(SG_ACTIONS_MAX, sizeof *world->list);
    world->actions.list = world->list;
    world->actions.capacity = SG_ACTIONS_MAX;
    world->actions.parts = calloc(SG_ACTIONS_MAX * 2, sizeof *world->actions.parts);
    if (world->states == NULL || world->endpoints == NULL || world->processes == NULL ||
        world->list == NULL || world->actions.parts == NULL)
        return SG_ERR_MEMORY;
    memset(world->states, 0, endpoints * world->state_stride);
    if ((world->setup->algo->uses & SG_ALGO_ONE_SIDED) == 0)
        return SG_OK;
    world->onesided = calloc(endpoints, sizeof *world->onesided);
    world->cells = calloc(endpoints * world->needs.cells + 1, sizeof *world->cells);
    return world->onesided != NULL && world->cells != NULL ? SG_OK : SG_ERR_MEMORY;
}

static void init_endpoint(struct world *world, int32_t number)
{
    struct endpoint *endpoint = &world->endpoints[number];
    struct sg_algo_setup setup = algo_setup(world->setup, number);

    endpoint->inbox_first = endpoint->inbox_last = NONE;
    endpoint->wake_ns = NEVER;
    endpoint->holder = number * world->setup->ranks_per_node;
    for (int id = 0; id < SG_TIMERS; id++)
        endpoint->timer_ns[id] = NEVER;
    for (int id = 0; id < SG_WATCHES && world->onesided != NULL; id++)
        world->onesided[number].watches[id].cell = NONE;
    world->setup->algo->init(head_of(world, number), &setup);
}

enum sg_status sg_world_open(const struct sg_world_setup *setup, struct world *world)
{
    enum sg_status status;

    *world = (struct world){
        .setup = setup,
        .process_count = setup->endpoints * setup->ranks_per_node,
        .items_free = NONE,
        .result = {.history = SG_HASH_START},
    };
    if ((setup->algo->operations & 1U << setup->call.operation) == 0) {
        sg_log("sim: %s has no %s", setup->algo->name, sg_operation_names[setup->call.operation]);
        return SG_ERR_ARGUMENT;
    }
    status = find_needs(world);
    if (status != SG_OK)
        return status;
    set_times(world);
    status = allocate(world);
    if (status == SG_OK)
        status = sg_values_setup(world);
    if (status == SG_OK)
        status = sg_node_level_setup(world);
    if (status != SG_OK) {
        sg_log("sim: %s", sg_status_text(status));
        sg_world_close(world);
        return status;
    }
    for (int32_t i = 0; i < setup->endpoints; i++)
        init_endpoint(world, i);
    return SG_OK;
}

void sg_world_close(struct world *world)
{
    /* What a failed run leaves in flight. */
    for (uint32_t i = 0; i < world->items_used; i++)
        sg_parts_release(world->items[i].parts);
    sg_node_level_clear(world);
    sg_values_clear(world);
    sg_queue_clear(&world->queue);
    free(world->items);
    free(world->cells);
    free(world->onesided);
    free(world->actions.parts);
    free(world->list);
    free(world->processes);
    free(world->endpoints);
    free(world->states);
}

double sg_world_bytes(const struct world *world)
{
    double endpoint =
        sizeof *world->endpoints + (double)world->state_stride + sg_node_level_bytes(world);

    if (world->onesided != NULL)
        endpoint += sizeof *world->onesided + (double)world->needs.cells * sizeof *world->cells;
    return endpoint * world->setup->endpoints +
           (double)world->process_count * sizeof *world->processes +
           (double)world->queue.capacity * sizeof *world->queue.list +
           (double)world->items_capacity * sizeof *world->items;
}
