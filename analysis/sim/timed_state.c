#include "sim/timed_state.h"

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
        world->items_free = world->items[index].base.own;
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
    world->items[index].base.own = world->items_free;
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

/* ---- posts */

uint32_t sg_posted_alloc(struct world *world, int32_t process, const struct sg_algo_post *post)
{
    uint32_t index = world->posted_free;

    if (index != NONE) {
        world->posted_free = world->posted[index].next;
    } else {
        if (world->posted_used == world->posted_capacity) {
            uint32_t capacity = 2 * world->posted_capacity + FIRST_ITEMS;
            struct posted *posted = realloc(world->posted, capacity * sizeof *posted);

            if (posted == NULL) {
                sg_world_fail(world, SG_ERR_MEMORY, "sim: out of memory");
                return NONE;
            }
            world->posted = posted;
            world->posted_capacity = capacity;
        }
        index = world->posted_used++;
    }
    world->posted[index] = (struct posted){*post, process, NONE};
    return index;
}

void sg_posted_release(struct world *world, uint32_t index)
{
    world->posted[index].next = world->posted_free;
    world->posted_free = index;
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

/* The process leaves its call at time_ns. */
static void sg_world_exit(struct world *world, int32_t process, uint64_t time_ns)
{
    struct process *self = &world->processes[process];

    world->endpoints[process / world->setup->ranks_per_node].calling--;
    if (measuring(world))
        sg_world_charge(world, time_ns - self->entry_ns, true);
    if (time_ns > world->last_exit_ns)
        world->last_exit_ns = time_ns;
    if (world->setup->program != NULL) {
        self->phase = PHASE_PROGRAM;
        self->work_end_ns = time_ns;
        sg_world_push(world, time_ns, EVENT_WORK_END, (uint32_t)process);
        return;
    }
    if (process == (world->call.root > 0 ? world->call.root : 0) * world->setup->ranks_per_node &&
        measuring(world)) {
        world->wait_ns += world->last_entry_ns - self->entry_ns;
        world->root_exit_ns = time_ns;
    }
    self->phase = PHASE_CATCHUP;
    self->work_end_ns = time_ns + world->setup->catchup_ns;
    sg_world_push(world, self->work_end_ns, EVENT_WORK_END, (uint32_t)process);
}

/* ---- the host's view */

void sg_world_check(struct world *world, const char *wrong)
{
    if (wrong != NULL)
        sg_world_fail(world, SG_ERR_ARGUMENT, "sim: %s %s", world->setup->algo->name, wrong);
}

static void lay_out(const struct world *world, struct sg_host_layout *layout,
                    struct sg_host_endpoint *endpoint)
{
    sg_host_lay_out(layout, &world->needs, world->credits, 0, endpoint);
    if (world->credits > 0)
        endpoint->payload->operand = sg_host_reserve(layout, sizeof *endpoint->payload->operand);
}

size_t sg_world_endpoint_bytes(const struct world *world)
{
    struct sg_payload payload;
    struct sg_host_endpoint endpoint = {.payload = &payload};
    struct sg_host_layout layout = {NULL, 0};

    lay_out(world, &layout, &endpoint);
    return layout.used;
}

struct sg_host_endpoint sg_world_endpoint(struct world *world, int32_t number,
                                          struct sg_payload *payload)
{
    struct endpoint *endpoint = &world->endpoints[number];
    struct sg_host_layout layout = {world->memory + (size_t)number * world->stride, 0};
    struct sg_host_endpoint of = {
        .owner = endpoint,
        .rank = number,
        .size = world->setup->endpoints,
        .timer_ns = endpoint->timer_ns,
        .payload = world->credits > 0 ? payload : NULL,
    };

    if (of.size <= SG_HOST_PEERS_MAX)
        of.peers = &world->peers;
    if (world->onesided != NULL)
        of.watches = world->onesided[number].watches;
    *payload = (struct sg_payload){0};
    lay_out(world, &layout, &of);
    return of;
}

void sg_world_feed(struct world *world, int32_t endpoint, const struct parts *parts)
{
    world->fed = sg_world_endpoint(world, endpoint, &world->payload);
    if (world->fed.payload == NULL || parts == NULL)
        return;
    world->payload.parts = parts->values;
    world->payload.parts_count = parts->count;
}

void sg_world_feed_call(struct world *world, int32_t endpoint)
{
    uint32_t seq = head_of(world, endpoint)->seq + 1;

    sg_world_feed(world, endpoint, NULL);
    if (world->fed.payload != NULL)
        *world->payload.operand = sg_value_contribution(
            seq, endpoint, sg_chunking_bytes(&world->chunking, world->call.bytes, seq),
            world->call.flags);
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
    const struct sg_algo_call *call = &world->call;
    const struct sg_value *value;
    struct sg_payload payload;
    uint32_t contributions;

    if (world->credits == 0 || call->bytes == 0 ||
        (call->operation == SG_OPERATION_REDUCE && call->root != endpoint) ||
        (call->operation == SG_OPERATION_BCAST && call->root == endpoint))
        return;
    sg_world_endpoint(world, endpoint, &payload);
    value = &payload.results[seq % world->credits];
    contributions = call->operation == SG_OPERATION_BCAST ? 1 : (uint32_t)world->setup->endpoints;
    if (value->count != contributions || value->instance != seq)
        sg_world_fail(world, SG_ERR_ARGUMENT, "sim: endpoint %d lacks contributions in its result",
                      (int)endpoint);
    /* A sum, because endpoints finish in any order; the mix keeps equal hashes from cancelling
     * out. */
    world->result.result += sg_hash_mix(value->hash ^ (uint64_t)seq << 32);
}

/* True if the process waits: at most `width` of its chunks may be under way, and none at the end of
 * the call. */
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

/* ---- chunks of a call */

static uint32_t room_of(const struct sg_world_setup *setup)
{
    struct sg_algo_setup first = {.size = setup->endpoints, .parameters = setup->parameters};
    struct sg_algo_needs needs = {0};

    if (setup->chunk_bytes != SG_WORLD_CHUNKS_AUTO)
        return setup->chunk_bytes;
    setup->algo->needs(&first, &needs);
    return sg_algo_chunk_bytes(&needs, setup->call.operation);
}

struct sg_chunking sg_chunking_of(const struct sg_world_setup *setup)
{
    uint32_t bytes = setup->call.bytes, room = room_of(setup);
    struct sg_chunking chunking = {.count = 1, .bytes = bytes};

    if (setup->endpoints == 1 || room == 0 || bytes <= room)
        return chunking;
    chunking.count = bytes / room + (bytes % room > 0);
    chunking.bytes = room;
    if (setup->algo->uses & SG_ALGO_PIPELINED)
        chunking.width = sg_credits(&setup->parameters);
    return chunking;
}

uint32_t sg_chunking_bytes(const struct sg_chunking *chunking, uint32_t call_bytes, uint32_t seq)
{
    uint32_t index = (seq - 1) % chunking->count;

    return index + 1 < chunking->count ? chunking->bytes : call_bytes - index * chunking->bytes;
}
