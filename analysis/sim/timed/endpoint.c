#include "sim/timed/endpoint.h"

#include "sim/timed/actions.h"
#include "sim/timed/node_level.h"

static bool polls(const struct endpoint *endpoint)
{
    return endpoint->calling > 0 || endpoint->resting > 0;
}

static void wake_at(struct world *world, int32_t number, uint64_t time_ns)
{
    struct endpoint *endpoint = &world->endpoints[number];

    if (endpoint->wake_ns <= time_ns)
        return;
    endpoint->wake_ns = time_ns;
    sg_world_push(world, time_ns, EVENT_WAKE, (uint32_t)number);
}

/* ---- the inbox */

static void inbox_put(struct world *world, const struct item *item)
{
    struct endpoint *endpoint = &world->endpoints[item->endpoint];
    uint32_t index = sg_item_alloc(world, item);

    if (index == NONE)
        return;
    world->items[index].next = NONE;
    if (endpoint->inbox_first == NONE)
        endpoint->inbox_first = index;
    else
        world->items[endpoint->inbox_last].next = index;
    endpoint->inbox_last = index;
    endpoint->inbox_solicited += item->solicited;
}

static bool inbox_take(struct world *world, struct endpoint *endpoint, struct item *item)
{
    uint32_t index = endpoint->inbox_first;

    if (index == NONE)
        return false;
    *item = world->items[index];
    endpoint->inbox_first = item->next;
    endpoint->inbox_solicited -= item->solicited;
    sg_item_release(world, index);
    return true;
}

/* ---- feeding the protocol */

/* Of the endpoint that the host sees (sg_world_feed); returns when its processor is done. */
static uint64_t feed(struct world *world, sg_host_handler handle, const struct sg_event *event)
{
    sg_host_feed(&world->host, head_of(world, world->fed.rank), handle, event);
    return sg_world_carry_out(world, event->time_ns);
}

static void note_message(struct world *world, const struct item *item)
{
    const struct sg_header *header = &item->message.header;

    note(world, (uint64_t)(uint32_t)item->from << 32 | header->seq);
    note(world, (uint64_t)header->kind << 32 | header->number[0]);
}

/* Feeds one item from time_ns on; returns when that is done. */
static uint64_t handle(struct world *world, struct item *item, uint64_t time_ns)
{
    const struct sg_algo *algo = world->setup->algo;
    struct endpoint *endpoint = &world->endpoints[item->endpoint];
    struct sg_event event = {.kind = SG_EVENT_MESSAGE};

    if (item->kind == ITEM_MESSAGE)
        time_ns += world->overhead_ns;
    event.time_ns = time_ns;
    note(world, time_ns);
    note(world, (uint64_t)item->kind << 32 | (uint32_t)item->endpoint);
    sg_world_feed(world, item->endpoint, item->parts);
    switch (item->kind) {
    case ITEM_MESSAGE:
        note_message(world, item);
        event.message = item->message;
        endpoint->busy_ns = feed(world, algo->on_message, &event);
        break;
    case ITEM_REPLY:
        event.kind = SG_EVENT_REPLY;
        event.reply.tag = item->reply.tag;
        for (int i = 0; i < 8; i++)
            event.reply.value[i] = item->reply.value[i];
        note(world, item->reply.value[0]);
        endpoint->busy_ns = feed(world, algo->on_reply, &event);
        break;
    default:
        event.kind = SG_EVENT_TIMER;
        event.timer.id = item->id;
        if (item->kind == ITEM_WATCH)
            event.timer.value = world->fed.cells[item->access.remote];
        endpoint->busy_ns = feed(world, algo->on_timer, &event);
    }
    sg_parts_release(item->parts);
    return endpoint->busy_ns;
}

/* ---- calls */

/* The call that the protocol completed returns once its handler is through. */
static void leave(struct world *world, int32_t number)
{
    struct endpoint *endpoint = &world->endpoints[number];

    if (!endpoint->completed)
        return;
    endpoint->completed = false;
    sg_node_level_complete(world, number, endpoint->busy_ns);
    /* Solicited messages that came before signals were armed. */
    if (endpoint->inbox_first != NONE)
        wake_at(world, number, endpoint->busy_ns);
}

void sg_endpoint_arrive(struct world *world, int32_t process, uint64_t time_ns)
{
    int32_t number = process / world->setup->ranks_per_node;
    struct endpoint *endpoint = &world->endpoints[number];
    struct sg_event event = {.kind = SG_EVENT_CALL, .call = world->setup->call};

    if (!sg_node_level_arrive(world, process, &time_ns))
        return;
    event.time_ns = later(time_ns, endpoint->busy_ns);
    endpoint->holder = process;
    note(world, event.time_ns);
    note(world, UINT64_C(0xca11) << 32 | (uint32_t)number);
    sg_world_feed_call(world, number);
    endpoint->busy_ns = feed(world, world->setup->algo->on_call, &event);
    leave(world, number);
}

void sg_endpoint_enter(struct world *world, int32_t process)
{
    int32_t number = process / world->setup->ranks_per_node;
    struct endpoint *endpoint = &world->endpoints[number];
    uint64_t cursor_ns = later(endpoint->busy_ns, world->now_ns);
    struct item item;

    endpoint->calling++;
    endpoint->in_handler = false;
    while (inbox_take(world, endpoint, &item))
        cursor_ns = handle(world, &item, cursor_ns);
    leave(world, number);
    sg_endpoint_arrive(world, process, cursor_ns);
}

void sg_endpoint_rest(struct world *world, int32_t number)
{
    struct endpoint *endpoint = &world->endpoints[number];

    endpoint->resting++;
    if (endpoint->inbox_first != NONE)
        wake_at(world, number, later(endpoint->busy_ns, world->now_ns));
}

void sg_endpoint_drain(struct world *world, int32_t number)
{
    struct endpoint *endpoint = &world->endpoints[number];
    struct sg_event event = {.kind = SG_EVENT_CALL};

    event.time_ns = later(endpoint->busy_ns, world->now_ns);
    sg_world_feed(world, number, NULL);
    endpoint->busy_ns = feed(world, world->setup->algo->on_drain, &event);
}

/* ---- arrivals */

static uint64_t interrupt_ns(const struct world *world)
{
    return world->setup->mode == SG_SIM_THREAD ? sg_network_ns(world->network.wake_us)
                                               : world->signal_ns;
}

static bool armed(struct world *world, int32_t number)
{
    return world->setup->mode != SG_SIM_POLL && head_of(world, number)->outstanding > 0;
}

/* A handler's time comes on top of the computation that it interrupts. */
static void charge(struct world *world, int32_t number, uint64_t from_ns, uint64_t to_ns)
{
    struct process *process = &world->processes[world->endpoints[number].holder];

    process->work_end_ns += to_ns - from_ns;
    if (measuring(world))
        sg_world_charge(world, to_ns - from_ns, false);
}

/* Takes one item of what waits inside an interrupt that began, or goes on, now. */
static void interrupted(struct world *world, int32_t number, uint64_t cost_ns)
{
    struct endpoint *endpoint = &world->endpoints[number];
    struct item item;

    if (!inbox_take(world, endpoint, &item)) {
        endpoint->in_handler = false;
        return;
    }
    endpoint->in_handler = true;
    charge(world, number, world->now_ns, handle(world, &item, world->now_ns + cost_ns));
    wake_at(world, number, endpoint->busy_ns);
}

static void begin_interrupt(struct world *world, int32_t number)
{
    if (measuring(world))
        world->signals++;
    interrupted(world, number, interrupt_ns(world));
}

void sg_endpoint_deliver(struct world *world, const struct item *item)
{
    struct endpoint *endpoint = &world->endpoints[item->endpoint];
    bool busy = endpoint->busy_ns > world->now_ns || endpoint->in_handler;
    struct item copy;

    if (item->solicited && measuring(world) && (busy || endpoint->calling > 0))
        world->ignored++;
    if (polls(endpoint) && !busy && endpoint->inbox_first == NONE) {
        copy = *item;
        handle(world, &copy, world->now_ns);
        leave(world, item->endpoint);
        return;
    }
    inbox_put(world, item);
    if (busy || polls(endpoint))
        wake_at(world, item->endpoint, later(endpoint->busy_ns, world->now_ns));
    else if (item->solicited && armed(world, item->endpoint))
        begin_interrupt(world, item->endpoint);
}

void sg_endpoint_wake(struct world *world, int32_t number)
{
    struct endpoint *endpoint = &world->endpoints[number];
    struct item item;

    if (endpoint->wake_ns != world->now_ns)
        return;
    endpoint->wake_ns = NEVER;
    if (endpoint->busy_ns > world->now_ns) {
        wake_at(world, number, endpoint->busy_ns);
    } else if (polls(endpoint)) {
        endpoint->in_handler = false;
        if (!inbox_take(world, endpoint, &item))
            return;
        handle(world, &item, world->now_ns);
        leave(world, number);
        if (endpoint->inbox_first != NONE)
            wake_at(world, number, endpoint->busy_ns);
    } else if (endpoint->in_handler) {
        interrupted(world, number, 0);
    } else if (endpoint->inbox_solicited > 0 && armed(world, number)) {
        begin_interrupt(world, number);
    }
}

void sg_endpoint_timer(struct world *world, uint32_t index)
{
    int32_t number = (int32_t)(index / SG_TIMERS);
    uint32_t id = index % SG_TIMERS;
    struct item item = {.endpoint = number, .kind = ITEM_TIMER, .id = (uint16_t)id};

    if (world->endpoints[number].timer_ns[id] != world->now_ns)
        return;
    world->endpoints[number].timer_ns[id] = SG_TIMER_UNSET;
    sg_endpoint_deliver(world, &item);
}
