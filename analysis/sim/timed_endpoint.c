
#include "sim/timed_state.h"

/* The adapter sends the message when it is free; the message's bytes then occupy it. */
static uint64_t depart(struct world *world, int32_t number, uint64_t time_ns, uint64_t bytes)
{
    struct endpoint *adapter = sg_world_adapter(world, number);
    uint64_t departure_ns = later(adapter->send_ns, time_ns);

    adapter->send_ns = departure_ns + sg_network_gap_ns(&world->network, bytes);
    return departure_ns;
}

/* ---- messages */

/* The multicast's latency without both overheads: the network's share. */
static uint64_t multicast_wire_ns(const struct world *world, uint64_t bytes)
{
    uint64_t whole_ns = sg_network_multicast_ns(&world->network, bytes);

    return whole_ns > 2 * world->overhead_ns ? whole_ns - 2 * world->overhead_ns : 0;
}

static void send(struct world *world, struct item *item)
{
    uint64_t bytes = (uint64_t)item->base.header.parts * item->base.header.bytes, departure_ns;

    world->cursor_ns += world->overhead_ns;
    departure_ns = depart(world, item->base.from, world->cursor_ns, bytes);
    if (item->base.multicast) {
        world->result.multicasts++;
        sg_item_push(world, departure_ns + multicast_wire_ns(world, bytes), EVENT_MULTICAST, item);
    } else {
        sg_item_push(world,
                     departure_ns + world->latency_ns + sg_world_jitter_ns(world, item->base.to),
                     EVENT_ARRIVE, item);
    }
}

/* ---- one-sided */

/* An access to the endpoint's own memory: takes effect in the order of issue, and after an atomic
 * access that is under way. */
static uint64_t issue_self(struct world *world, struct item *item, uint64_t time_ns)
{
    struct onesided *own = &world->onesided[item->base.to];
    uint64_t effect_ns;

    if (item->base.asked == SG_ACTION_FETCH_ADD) {
        time_ns += world->overhead_ns;
        effect_ns = time_ns + world->loopback_ns;
    } else {
        time_ns += sg_network_bytes_ns(world->network.copy_ns_per_byte, item->base.access.bytes);
        effect_ns = time_ns;
    }
    own->self_ns = later(own->self_ns, effect_ns);
    sg_item_push(world, own->self_ns, EVENT_ACCESS, item);
    return time_ns;
}

static void access_remote(struct world *world, struct item *item)
{
    uint8_t asked = item->base.asked;
    bool write = asked == SG_ACTION_WRITE || asked == SG_ACTION_WRITE_RESULT;
    uint32_t bytes = write ? item->base.access.bytes : 0;
    bool own = item->base.to == item->base.from;
    uint64_t departure_ns;

    if (asked == SG_ACTION_FETCH_ADD && measuring(world)) {
        world->fetch_adds++;
        world->own_fetch_adds += own;
    }
    if (own) {
        world->cursor_ns = issue_self(world, item, world->cursor_ns);
        return;
    }
    world->cursor_ns += world->overhead_ns;
    departure_ns = depart(world, item->base.from, world->cursor_ns, bytes);
    sg_item_push(world,
                 departure_ns + sg_network_gap_ns(&world->network, bytes) + world->latency_ns,
                 EVENT_ACCESS, item);
}

static void launch(struct sg_host *host, const struct sg_host_endpoint *from,
                   const struct sg_flight *flight, const struct sg_value *values)
{
    bool message = flight->kind == SG_FLIGHT_MESSAGE;
    struct item item = {sg_parts_new(host->world, values, message ? flight->header.parts : 1),
                        *flight};

    if (message)
        send(host->world, &item);
    else
        access_remote(host->world, &item);
}

struct item sg_world_notice(const struct sg_host_endpoint *endpoint, uint32_t id)
{
    struct sg_host_watch *watch = &endpoint->watches[id];
    struct item item = {NULL, {.to = endpoint->rank, .kind = SG_FLIGHT_WATCH, .tag = id}};

    watch->set = false;
    item.base.solicited = watch->solicited;
    item.base.access.remote = watch->cell;
    return item;
}

static void watch(struct sg_host *host, const struct sg_host_endpoint *endpoint, uint32_t id)
{
    struct world *world = host->world;
    const struct sg_host_watch *watch = &endpoint->watches[id];
    struct item item;

    if (endpoint->cells[watch->cell] == watch->value)
        return;
    /* The condition is already true: the endpoint notices it at its next poll. */
    item = sg_world_notice(endpoint, id);
    sg_item_push(world, later(world->now_ns, world->endpoints[endpoint->rank].busy_ns), EVENT_READY,
                 &item);
}

/* ---- other actions */

static bool begin(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                  const struct sg_action *action)
{
    struct world *world = host->world;

    if (action->kind < SG_ACTION_KINDS && measuring(world))
        world->requests[action->kind]++;
    return world->status == SG_OK;
}

static const char *combine(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                           const struct sg_action *action)
{
    struct world *world = host->world;
    bool copy = action->kind == SG_ACTION_COPY;

    if (!copy || !sg_node_level_places_result(world))
        world->cursor_ns += sg_network_bytes_ns(copy ? world->network.copy_ns_per_byte
                                                     : world->network.reduce_ns_per_byte,
                                                action->data.bytes);
    return NULL;
}

/* A timer fires no earlier than now; one set to its previous time already has its event. */
static uint64_t set_timer(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                          uint32_t id, uint64_t time_ns)
{
    struct world *world = host->world;
    uint64_t at_ns = later(time_ns, world->cursor_ns);

    if (endpoint->timer_ns[id] != at_ns)
        sg_world_push(world, at_ns, EVENT_TIMER, (uint32_t)endpoint->rank * SG_TIMERS + id);
    return at_ns;
}

static void complete(struct sg_host *host, const struct sg_host_endpoint *endpoint)
{
    struct world *world = host->world;

    world->endpoints[endpoint->rank].completed = true;
}

static void finish(struct sg_host *host, const struct sg_host_endpoint *endpoint, uint32_t seq)
{
    sg_world_check_result(host->world, endpoint->rank, seq);
    sg_chunk_finished(host->world, endpoint->rank, seq);
}

/* Gives the post's outcome to its program; the endpoint takes its next post only after that. */
static const char *deliver(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                           const struct sg_action *action)
{
    struct world *world = host->world;
    const struct sg_world_program *program = world->setup->program;
    struct sg_action delivery = *action;
    struct posted *posted;

    if (program == NULL || action->delivery.handle >= world->posted_used)
        return "delivers what was not posted";
    posted = &world->posted[action->delivery.handle];
    if (posted->post.kind != SG_POST_IPROBE)
        world->postings[endpoint->rank].under_way[posting_kind(&posted->post)]--;
    delivery.delivery.handle = posted->post.handle;
    sg_posted_release(world, action->delivery.handle);
    program->deliver(program->context, world, posted->process, &delivery);
    return NULL;
}

static void end_slice(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                      const struct sg_slice *slice)
{
    const struct sg_world_setup *setup = ((const struct world *)host->world)->setup;

    if (setup->slice != NULL)
        setup->slice(setup->slice_context, endpoint->rank, slice);
}

const struct sg_host_scheduler sg_timed_scheduler = {
    .begin = begin,
    .launch = launch,
    .combine = combine,
    .set_timer = set_timer,
    .watch = watch,
    .complete = complete,
    .finish = finish,
    .deliver = deliver,
    .end_slice = end_slice,
};

/* Carries out the present endpoint's actions from start_ns on; returns when its processor is
 * done. */
static uint64_t sg_world_carry_out(struct world *world, uint64_t start_ns)
{
    world->cursor_ns = start_ns;
    sg_world_check(world, sg_host_carry_out(&world->host, &world->fed));
    return world->cursor_ns;
}

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
    struct endpoint *endpoint = &world->endpoints[item->base.to];
    uint32_t index = sg_item_alloc(world, item);

    if (index == NONE)
        return;
    world->items[index].base.own = NONE;
    if (endpoint->inbox_first == NONE)
        endpoint->inbox_first = index;
    else
        world->items[endpoint->inbox_last].base.own = index;
    endpoint->inbox_last = index;
    endpoint->inbox_solicited += item->base.solicited;
}

static bool inbox_take(struct world *world, struct endpoint *endpoint, struct item *item)
{
    uint32_t index = endpoint->inbox_first;

    if (index == NONE)
        return false;
    *item = world->items[index];
    endpoint->inbox_first = item->base.own;
    endpoint->inbox_solicited -= item->base.solicited;
    sg_item_release(world, index);
    return true;
}

/* ---- delivering events to the protocol */

/* The endpoint's first waiting post that the protocol has capacity for; NONE. */
static uint32_t next_post(struct world *world, int32_t number)
{
    struct posting *posting = &world->postings[number];

    for (int kind = 0; kind < 2; kind++) {
        uint32_t index = posting->first[kind];

        if (index == NONE || posting->under_way[kind] == world->setup->parameters.posts)
            continue;
        posting->first[kind] = world->posted[index].next;
        posting->under_way[kind]++;
        return index;
    }
    return NONE;
}

static uint64_t feed_post(struct world *world, uint32_t index, uint64_t time_ns)
{
    struct sg_event event = {
        .kind = SG_EVENT_POST, .time_ns = time_ns, .post = world->posted[index].post};

    event.post.handle = index;
    sg_host_feed(&world->host, &world->fed, world->setup->algo->on_call, &event);
    return sg_world_carry_out(world, time_ns);
}

/* Delivers an event to the endpoint that the host sees (sg_world_feed), then the posts that now
 * have capacity; returns when the endpoint's processor is done. */
static uint64_t feed(struct world *world, sg_host_handler handle, const struct sg_event *event)
{
    int32_t number = world->fed.rank;
    uint64_t done_ns;
    uint32_t index;

    sg_host_feed(&world->host, &world->fed, handle, event);
    done_ns = sg_world_carry_out(world, event->time_ns);
    while (world->postings != NULL && (index = next_post(world, number)) != NONE)
        done_ns = feed_post(world, index, done_ns);
    return done_ns;
}

/* Adds a handled item to the history. Accesses have no number there, because no endpoint handles
 * them. */
static void note_item(struct world *world, const struct sg_flight *base, uint64_t time_ns)
{
    uint64_t kind = base->kind > SG_FLIGHT_ACCESS ? base->kind - 1U : base->kind;

    note(world, time_ns);
    note(world, kind << 32 | (uint32_t)base->to);
    if (base->kind == SG_FLIGHT_MESSAGE) {
        note(world, (uint64_t)(uint32_t)base->from << 32 | base->header.seq);
        note(world, (uint64_t)base->header.kind << 32 | base->header.number[0]);
    } else if (base->kind == SG_FLIGHT_REPLY) {
        note(world, base->cells[0]);
    }
}

/* Time of MPICH's copy into the receive's buffer. A protocol itself copies a message that arrives
 * before its call. */
static uint64_t mpich_copy_ns(const struct world *world, const struct sg_flight *base)
{
    if (!world->setup->mpich_copies || base->kind != SG_FLIGHT_MESSAGE)
        return 0;
    return sg_network_bytes_ns(world->network.copy_ns_per_byte,
                               (uint64_t)base->header.parts * base->header.bytes);
}

/* Delivers one item from time_ns on; returns when the endpoint is done with it. */
static uint64_t handle(struct world *world, struct item *item, uint64_t time_ns)
{
    const struct sg_algo *algo = world->setup->algo;
    const struct sg_flight *base = &item->base;
    struct endpoint *endpoint = &world->endpoints[base->to];
    sg_host_handler handler = algo->on_timer;
    struct sg_event event = {.kind = SG_EVENT_TIMER};

    if (base->kind == SG_FLIGHT_MESSAGE)
        time_ns += world->overhead_ns + mpich_copy_ns(world, base);
    note_item(world, base, time_ns);
    sg_world_feed(world, base->to, item->parts);
    if (base->kind == SG_FLIGHT_MESSAGE || base->kind == SG_FLIGHT_REPLY) {
        event = sg_host_event(base);
        handler = base->kind == SG_FLIGHT_MESSAGE ? algo->on_message : algo->on_reply;
    } else {
        event.timer.id = base->tag;
        if (base->kind == SG_FLIGHT_WATCH)
            event.timer.value = world->fed.cells[base->access.remote];
    }
    event.time_ns = time_ns;
    endpoint->busy_ns = feed(world, handler, &event);
    sg_parts_release(item->parts);
    return endpoint->busy_ns;
}

/* ---- calls */

/* The completed call returns when the handler ends. */
static void leave(struct world *world, int32_t number)
{
    struct endpoint *endpoint = &world->endpoints[number];

    sg_chunks_go_on(world, number, endpoint->busy_ns);
    if (!endpoint->completed)
        return;
    endpoint->completed = false;
    sg_node_level_complete(world, number, endpoint->busy_ns);
    /* Solicited messages may have arrived before signals were armed. */
    if (endpoint->inbox_first != NONE)
        wake_at(world, number, endpoint->busy_ns);
}

void sg_endpoint_arrive(struct world *world, int32_t process, uint64_t time_ns)
{
    int32_t number = process / world->setup->ranks_per_node;
    struct endpoint *endpoint = &world->endpoints[number];
    struct sg_event event = {.kind = SG_EVENT_CALL};

    if (world->setup->program != NULL)
        world->call = world->processes[process].call;
    if (!sg_node_level_arrive(world, process, &time_ns))
        return;
    event.call = world->call;
    event.call.bytes =
        sg_chunking_bytes(&world->chunking, world->call.bytes, head_of(world, number)->seq + 1);
    event.time_ns = later(time_ns, endpoint->busy_ns);
    endpoint->holder = process;
    note(world, event.time_ns);
    note(world, UINT64_C(0xca11) << 32 | (uint32_t)number);
    sg_world_feed_call(world, number);
    endpoint->busy_ns = feed(world, world->setup->algo->on_call, &event);
    leave(world, number);
}

/* Handles everything that waits; returns when that is done. */
static uint64_t poll_all(struct world *world, int32_t number)
{
    struct endpoint *endpoint = &world->endpoints[number];
    uint64_t cursor_ns = later(endpoint->busy_ns, world->now_ns);
    struct item item;

    endpoint->calling++;
    endpoint->in_handler = false;
    while (inbox_take(world, endpoint, &item))
        cursor_ns = handle(world, &item, cursor_ns);
    leave(world, number);
    return cursor_ns;
}

void sg_endpoint_enter(struct world *world, int32_t process)
{
    uint64_t cursor_ns = poll_all(world, process / world->setup->ranks_per_node);

    sg_endpoint_arrive(world, process, cursor_ns);
}

void sg_endpoint_poll(struct world *world, int32_t process)
{
    int32_t number = process / world->setup->ranks_per_node;

    world->endpoints[number].holder = process;
    poll_all(world, number);
}

/* ---- posts */

static void queue_post(struct world *world, int32_t number, int kind, uint32_t index)
{
    struct posting *posting = &world->postings[number];

    if (posting->first[kind] == NONE)
        posting->first[kind] = index;
    else
        world->posted[posting->last[kind]].next = index;
    posting->last[kind] = index;
}

void sg_endpoint_post(struct world *world, int32_t process, const struct sg_algo_post *post)
{
    int32_t number = process / world->setup->ranks_per_node;
    struct endpoint *endpoint = &world->endpoints[number];
    uint32_t index = sg_posted_alloc(world, process, post);
    uint64_t time_ns = later(world->now_ns, endpoint->busy_ns);

    if (world->postings == NULL)
        sg_world_fail(world, SG_ERR_ARGUMENT, "sim: %s takes no messages",
                      world->setup->algo->name);
    if (world->status != SG_OK)
        return;
    endpoint->holder = process;
    note(world, time_ns);
    note(world, UINT64_C(0x9057) << 32 | (uint32_t)process);
    sg_world_feed(world, number, NULL);
    if (post->kind == SG_POST_IPROBE) {
        time_ns = feed_post(world, index, time_ns);
    } else {
        queue_post(world, number, posting_kind(post), index);
        while ((index = next_post(world, number)) != NONE)
            time_ns = feed_post(world, index, time_ns);
    }
    endpoint->busy_ns = world->processes[process].posted_ns = time_ns;
    leave(world, number);
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

/* Adds a handler's time to the computation that it interrupts. */
static void charge(struct world *world, int32_t number, uint64_t from_ns, uint64_t to_ns)
{
    struct process *process = &world->processes[world->endpoints[number].holder];

    process->work_end_ns += to_ns - from_ns;
    if (measuring(world))
        sg_world_charge(world, to_ns - from_ns, false);
}

/* Handles one waiting item in an interrupt that begins, or continues, now. */
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
    struct endpoint *endpoint = &world->endpoints[item->base.to];
    bool busy = endpoint->busy_ns > world->now_ns || endpoint->in_handler;
    struct item copy;

    if (item->base.solicited && measuring(world) && (busy || endpoint->calling > 0))
        world->ignored++;
    if (polls(endpoint) && !busy && endpoint->inbox_first == NONE) {
        copy = *item;
        handle(world, &copy, world->now_ns);
        leave(world, item->base.to);
        return;
    }
    inbox_put(world, item);
    if (busy || polls(endpoint))
        wake_at(world, item->base.to, later(endpoint->busy_ns, world->now_ns));
    else if (item->base.solicited && armed(world, item->base.to))
        begin_interrupt(world, item->base.to);
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

/* A timer interrupts a computing process if strobes serve more than the process's own calls. */
static bool wakes_for_timers(const struct world *world)
{
    return world->setup->parameters.strobe_always || world->postings != NULL;
}

void sg_endpoint_timer(struct world *world, uint32_t index)
{
    int32_t number = (int32_t)(index / SG_TIMERS);
    uint32_t id = index % SG_TIMERS;
    struct item item = {NULL, {.to = number, .kind = SG_FLIGHT_TIMER, .tag = id}};

    if (world->endpoints[number].timer_ns[id] != world->now_ns)
        return;
    item.base.solicited = wakes_for_timers(world);
    world->endpoints[number].timer_ns[id] = SG_TIMER_UNSET;
    sg_endpoint_deliver(world, &item);
}
