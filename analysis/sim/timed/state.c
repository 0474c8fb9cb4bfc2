#include "sim/timed/state.h"

#include "core/hash.h"
#include "sim/random.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ITEMS 1024
void sg_world_fail(struct world *world, enum sg_status status, const char *format, ...)
{
    char text[200];
    va_list arguments;

    if (world->status != SG_OK)
        return;
    world->status = status;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sg_log("%s", text);
}

void sg_world_push(struct world *world, uint64_t time_ns, uint32_t kind, uint32_t index)
{
    if (!sg_queue_push(&world->queue, time_ns, kind, index))
        sg_world_fail(world, SG_ERR_MEMORY, "sim: out of memory");
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

void sg_item_push(struct world *world, uint64_t time_ns, uint32_t kind, const struct item *item)
{
    uint32_t index = sg_item_alloc(world, item);

    if (index != NONE)
        sg_world_push(world, time_ns, kind, index);
}

void sg_item_release(struct world *world, uint32_t index)
{
    world->items[index].next = world->items_free;
    world->items[index].parts = NULL;
    world->items_free = index;
}

void sg_parts_release(struct parts *parts)
{
    if (parts != NULL && --parts->references == 0)
        free(parts);
}

uint64_t sg_world_jitter_ns(struct world *world, int32_t to)
{
    uint64_t random;

    if (world->network.jitter_us <= 0)
        return 0;
    random = sg_random(world->setup->seed, SG_RANDOM_JITTER, (uint64_t)(uint32_t)to,
                       world->message_number++);
    return sg_network_ns(sg_random_exponential(random, world->network.jitter_us));
}

/* ---- processes */

void sg_world_charge(struct world *world, uint64_t ns, bool blocked)
{
    const struct sg_world_setup *setup = world->setup;

    world->cpu_ns += ns;
    if (setup->costs == NULL)
        return;
    setup->costs[world->iteration - setup->warmup].processor_ns += ns;
    if (blocked)
        setup->costs[world->iteration - setup->warmup].blocked_ns += ns;
}

void sg_world_exit(struct world *world, int32_t process, uint64_t time_ns)
{
    struct process *self = &world->processes[process];

    world->endpoints[process / world->setup->ranks_per_node].calling--;
    if (measuring(world))
        sg_world_charge(world, time_ns - self->entry_ns, true);
    if (time_ns > world->last_exit_ns)
        world->last_exit_ns = time_ns;
    if (process == (world->setup->call.root > 0 ? world->setup->call.root : 0) *
                       world->setup->ranks_per_node &&
        measuring(world)) {
        world->wait_ns += world->last_entry_ns - self->entry_ns;
        world->root_exit_ns = time_ns;
    }
    self->phase = PHASE_CATCHUP;
    self->work_end_ns = time_ns + world->setup->catchup_ns;
    sg_world_push(world, self->work_end_ns, EVENT_WORK_END, (uint32_t)process);
}

/* ---- what the host sees */

enum sg_status sg_values_setup(struct world *world)
{
    world->result.result = SG_HASH_START;
    if (!world->setup->data)
        return SG_OK;
    world->credits = sg_credits(&world->setup->parameters);
    world->values_stride = world->needs.slots + world->credits + 1;
    world->values =
        calloc((size_t)world->setup->endpoints * world->values_stride, sizeof *world->values);
    return world->values != NULL ? SG_OK : SG_ERR_MEMORY;
}

void sg_values_clear(struct world *world)
{
    free(world->values);
}

void sg_world_check(struct world *world, const char *wrong)
{
    if (wrong != NULL)
        sg_world_fail(world, SG_ERR_ARGUMENT, "sim: %s %s", world->setup->algo->name, wrong);
}

static struct sg_payload payload_of(struct world *world, int32_t endpoint)
{
    struct sg_value *values = world->values + (size_t)endpoint * world->values_stride;

    return (struct sg_payload){
        .slots = values,
        .slots_count = world->needs.slots,
        .results = values + world->needs.slots,
        .results_count = world->credits,
        .operand = values + world->needs.slots + world->credits,
    };
}

struct sg_host_endpoint sg_world_endpoint(struct world *world, int32_t number,
                                          struct sg_payload *payload)
{
    struct endpoint *endpoint = &world->endpoints[number];
    struct sg_host_endpoint of = {
        .owner = endpoint,
        .rank = number,
        .size = world->setup->endpoints,
        .timer_ns = endpoint->timer_ns,
        .parts_most = world->needs.parts,
    };

    if (of.size <= SG_HOST_PEERS_MAX)
        of.peers = &world->peers;
    if (world->values != NULL) {
        *payload = payload_of(world, number);
        of.payload = payload;
    }
    if (world->onesided != NULL) {
        of.cells = world->cells + (size_t)number * world->needs.cells;
        of.cells_count = world->needs.cells;
        of.watches = world->onesided[number].watches;
    }
    return of;
}

void sg_world_feed(struct world *world, int32_t endpoint, const struct parts *parts)
{
    world->fed = sg_world_endpoint(world, endpoint, &world->payload);
    if (world->values == NULL || parts == NULL)
        return;
    world->payload.parts = parts->values;
    world->payload.parts_count = parts->count;
}

void sg_world_feed_call(struct world *world, int32_t endpoint)
{
    const struct sg_algo_call *call = &world->setup->call;

    sg_world_feed(world, endpoint, NULL);
    if (world->values != NULL)
        *world->payload.operand = sg_value_contribution(head_of(world, endpoint)->seq + 1, endpoint,
                                                        call->bytes, call->flags);
}

struct parts *sg_parts_new(struct world *world, const struct sg_value *values, uint32_t count)
{
    struct parts *parts;

    if (values == NULL || count == 0)
        return NULL;
    parts = malloc(sizeof *parts + count * sizeof parts->values[0]);
    if (parts == NULL) {
        sg_world_fail(world, SG_ERR_MEMORY, "sim: out of memory");
        return NULL;
    }
    parts->references = 1;
    parts->count = count;
    memcpy(parts->values, values, count * sizeof *values);
    return parts;
}

void sg_world_check_result(struct world *world, int32_t endpoint, uint32_t seq)
{
    const struct sg_algo_call *call = &world->setup->call;
    const struct sg_value *value;
    struct sg_payload payload;

    if (world->values == NULL || call->bytes == 0 ||
        (call->operation == SG_OPERATION_REDUCE && call->root != endpoint))
        return;
    payload = payload_of(world, endpoint);
    value = &payload.results[seq % world->credits];
    if (value->count != (uint32_t)world->setup->endpoints || value->instance != seq)
        sg_world_fail(world, SG_ERR_ARGUMENT, "sim: endpoint %d lacks contributions in its result",
                      (int)endpoint);
    /* A sum: endpoints finish in any order, and equal ones must not cancel out. */
    world->result.result += sg_hash_mix(value->hash ^ (uint64_t)seq << 32);
}
