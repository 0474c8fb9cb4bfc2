/* A timed run from beginning to end: memory, arrivals from the network, the iterations of
 * processes, and the event loop. */
#include "sim/timed_queue.h"

#include "core/hash.h"
#include "sim/random.h"
#include "sim/timed_state.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Arrivals from the network: messages, multicasts, and one-sided accesses and their replies, which
 * take effect without a processor. */

/* ---- messages */

/* The first byte arrives; the adapter receives one message after another. */
static void arrive(struct world *world, uint32_t index)
{
    struct item *item = &world->items[index];
    struct endpoint *adapter = sg_world_adapter(world, item->base.to);
    uint64_t bytes = (uint64_t)item->base.header.parts * item->base.header.bytes;
    uint64_t from_ns = later(adapter->receive_ns, world->now_ns);

    adapter->receive_ns = from_ns + sg_network_gap_ns(&world->network, bytes);
    sg_world_push(world, adapter->receive_ns, EVENT_READY, index);
}

static bool lost(struct world *world, int32_t receiver, uint64_t number)
{
    uint64_t random;

    if (world->network.multicast_loss <= 0)
        return false;
    random = sg_random(world->setup->seed, SG_RANDOM_LOSS, (uint64_t)(uint32_t)receiver, number);
    if (sg_random_unit(random) >= world->network.multicast_loss)
        return false;
    world->result.lost++;
    return true;
}

/* If delays vary, each receiver has its own event. */
static void multicast_one(struct world *world, const struct item *item)
{
    if (item->parts != NULL)
        item->parts->references++;
    if (world->network.jitter_us <= 0) {
        sg_endpoint_deliver(world, item);
        return;
    }
    sg_item_push(world, world->now_ns + sg_world_jitter_ns(world, item->base.to), EVENT_READY,
                 item);
}

static void multicast(struct world *world, const struct item *item)
{
    uint64_t number = world->multicast_number++;
    struct item copy = *item;

    for (int32_t to = 0; to < world->setup->endpoints; to++) {
        if (to == item->base.from || lost(world, to, number))
            continue;
        copy.base.to = to;
        multicast_one(world, &copy);
        world->result.events++;
    }
    sg_parts_release(item->parts);
}

/* ---- one-sided: accesses take effect in the target's memory, may end watches there, and send a
 * reply to the initiator */

static void end_watches(struct world *world, const struct sg_host_endpoint *endpoint, uint32_t cell)
{
    for (uint32_t id = 0; id < SG_WATCHES; id++) {
        const struct sg_host_watch *watch = &endpoint->watches[id];
        struct item item;

        if (!watch->set || watch->cell != cell || watch->value == endpoint->cells[cell])
            continue;
        item = sg_world_notice(endpoint, id);
        sg_endpoint_deliver(world, &item);
    }
}

/* Sends the reply back to the initiator. */
static void answer(struct world *world, const struct sg_flight *access, const struct item *reply)
{
    uint64_t at_ns = world->now_ns;
    uint32_t bytes = access->asked == SG_ACTION_READ         ? access->access.bytes
                     : access->asked == SG_ACTION_READ_CELLS ? access->access.count * 8
                                                             : 0;

    if (access->from != access->to)
        at_ns += world->latency_ns + sg_network_gap_ns(&world->network, bytes);
    else if (access->asked == SG_ACTION_FETCH_ADD)
        at_ns += world->loopback_ns;
    sg_item_push(world, at_ns, EVENT_READY, reply);
}

static void take_effect(struct world *world, const struct item *item)
{
    const struct sg_flight *access = &item->base;
    struct sg_payload payload;
    struct sg_host_endpoint target = sg_world_endpoint(world, access->to, &payload);
    struct item reply = {NULL, *access};
    struct sg_value value = {0};

    note(world, world->now_ns);
    note(world, (uint64_t)access->asked << 32 | (uint32_t)access->to);
    if (item->parts != NULL)
        value = item->parts->values[0];
    sg_world_check(world, sg_host_access(&world->host, &target, &reply.base, &value));
    if (world->status != SG_OK)
        return;
    if (access->asked == SG_ACTION_READ)
        reply.parts = sg_parts_new(world, target.payload != NULL ? &value : NULL, 1);
    if (reply.base.kind == SG_FLIGHT_REPLY)
        answer(world, access, &reply);
    if (access->asked == SG_ACTION_WRITE_CELL || access->asked == SG_ACTION_FETCH_ADD)
        end_watches(world, &target, access->access.remote);
}

/* Stores the reply to a READ in the initiator's memory. */
static void land(struct world *world, const struct item *reply)
{
    struct sg_payload payload;

    if (reply->parts == NULL)
        return;
    sg_world_endpoint(world, reply->base.to, &payload);
    sg_world_check(world, sg_payload_store(&payload, reply->base.into, reply->parts->values));
}

/* Handles EVENT_ARRIVE, READY, MULTICAST or ACCESS of an item, now. */
static void sg_world_arrive(struct world *world, uint32_t kind, uint32_t index)
{
    struct item item = world->items[index];

    if (kind == EVENT_ARRIVE && item.base.header.bytes > 0) {
        arrive(world, index);
        return;
    }
    sg_item_release(world, index);
    if (kind == EVENT_MULTICAST) {
        multicast(world, &item);
    } else if (kind == EVENT_ACCESS) {
        take_effect(world, &item);
        sg_parts_release(item.parts);
    } else {
        if (item.base.kind == SG_FLIGHT_REPLY)
            land(world, &item);
        sg_endpoint_deliver(world, &item);
    }
}

#define ALIGNMENT 64
/* A longer iteration counts as one that never ends. */
#define ITERATION_NS_MAX UINT64_C(1000000000000)

/* ---- memory: its size is known at the start, except for items in flight */

static size_t round_up(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static struct sg_algo_setup algo_setup(const struct sg_world_setup *setup, int32_t rank)
{
    return (struct sg_algo_setup){
        .rank = rank, .size = setup->endpoints, .parameters = setup->parameters};
}

/* Endpoints may need different sizes; all get the largest. */
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
        if (needs.parts > world->needs.parts)
            world->needs.parts = needs.parts;
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
    const struct sg_algo_parameters *parameters = &world->setup->parameters;
    bool one_sided = sg_algo_is_one_sided(world->setup->algo, parameters);
    bool posts = sg_algo_takes_posts(world->setup->algo, parameters);

    if (world->setup->data && world->setup->program == NULL)
        world->credits = sg_credits(&world->setup->parameters);
    world->stride = sg_world_endpoint_bytes(world);
    world->memory = aligned_alloc(ALIGNMENT, endpoints * world->stride);
    world->endpoints = calloc(endpoints, sizeof *world->endpoints);
    world->processes = calloc((size_t)world->process_count, sizeof *world->processes);
    world->host.actions.list = calloc(SG_ACTIONS_MAX, sizeof *world->host.actions.list);
    world->host.actions.parts = calloc(SG_ACTIONS_MAX * 2, sizeof *world->host.actions.parts);
    if (one_sided)
        world->onesided = calloc(endpoints, sizeof *world->onesided);
    if (posts)
        world->postings = calloc(endpoints, sizeof *world->postings);
    if (world->memory == NULL || world->endpoints == NULL || world->processes == NULL ||
        world->host.actions.list == NULL || world->host.actions.parts == NULL ||
        (one_sided && world->onesided == NULL) || (posts && world->postings == NULL))
        return SG_ERR_MEMORY;
    for (size_t i = 0; posts && i < endpoints; i++)
        world->postings[i] = (struct posting){{0, 0}, {NONE, NONE}, {NONE, NONE}};
    memset(world->memory, 0, endpoints * world->stride);
    return SG_OK;
}

static void init_endpoint(struct world *world, int32_t number)
{
    struct endpoint *endpoint = &world->endpoints[number];
    struct sg_payload payload;
    struct sg_host_endpoint seen = sg_world_endpoint(world, number, &payload);

    endpoint->inbox_first = endpoint->inbox_last = NONE;
    endpoint->wake_ns = NEVER;
    endpoint->holder = number * world->setup->ranks_per_node;
    sg_host_init(&seen, world->setup->algo, &world->setup->parameters);
}

static void close_world(struct world *world)
{
    /* Frees items that a failed run leaves in flight. */
    for (uint32_t i = 0; i < world->items_used; i++)
        sg_parts_release(world->items[i].parts);
    sg_node_level_clear(world);
    sg_queue_clear(&world->queue);
    free(world->items);
    free(world->posted);
    free(world->postings);
    free(world->onesided);
    free(world->host.actions.parts);
    free(world->host.actions.list);
    free(world->processes);
    free(world->endpoints);
    free(world->memory);
}

/* Logs one line on failure. */
static enum sg_status open_world(const struct sg_world_setup *setup, struct world *world)
{
    enum sg_status status;

    *world = (struct world){
        .setup = setup,
        .process_count = setup->endpoints * setup->ranks_per_node,
        .items_free = NONE,
        .call = setup->call,
        .chunking = sg_chunking_of(setup),
        .posted_free = NONE,
        .host = {.world = world,
                 .scheduler = &sg_timed_scheduler,
                 .algo = setup->algo,
                 .marks = world->result.marks},
        .result = {.history = SG_HASH_START, .result = SG_HASH_START},
    };
    if (world->chunking.width > 0)
        world->call.flags |= SG_CALL_SPLIT | SG_CALL_LONG;
    if ((setup->algo->operations & 1U << setup->call.operation) == 0) {
        sg_log("sim: %s has no %s", setup->algo->name, sg_operation_names[setup->call.operation]);
        return SG_ERR_ARGUMENT;
    }
    /* Sequence numbers have 32 bits. */
    if (((uint64_t)setup->warmup + setup->iterations) * world->chunking.count >= UINT32_MAX) {
        sg_log("sim: too many calls of %u chunks", (unsigned)world->chunking.count);
        return SG_ERR_ARGUMENT;
    }
    status = find_needs(world);
    if (status != SG_OK)
        return status;
    set_times(world);
    status = allocate(world);
    if (status == SG_OK)
        status = sg_node_level_setup(world);
    if (status != SG_OK) {
        sg_log("sim: %s", sg_status_text(status));
        close_world(world);
        return status;
    }
    if (setup->endpoints <= SG_HOST_PEERS_MAX)
        sg_host_add_peers(&world->peers, setup->algo, setup->endpoints, &setup->parameters,
                          &world->call);
    for (int32_t i = 0; i < setup->endpoints; i++)
        init_endpoint(world, i);
    return SG_OK;
}

/* Peak memory use, without payloads and padding. */
static double world_bytes(const struct world *world)
{
    double endpoint = sizeof *world->endpoints + (double)round_up(world->needs.state_bytes) +
                      sg_node_level_bytes(world);

    if (world->onesided != NULL)
        endpoint += sizeof *world->onesided + (double)world->needs.cells * sizeof(uint64_t);
    return endpoint * world->setup->endpoints +
           (double)world->process_count * sizeof *world->processes +
           (double)world->queue.capacity * sizeof *world->queue.list +
           (double)world->items_capacity * sizeof *world->items;
}

/* ---- processes */

static uint64_t fixed_delay_ns(const struct sg_world_setup *setup, int32_t process)
{
    uint64_t delay_ns = 0;

    for (uint32_t i = 0; i < setup->late_count; i++) {
        if (process >= setup->late[i].first && process <= setup->late[i].last)
            delay_ns = setup->late[i].delay_ns;
    }
    return delay_ns;
}

static uint64_t draw_delay_ns(const struct world *world, int32_t process, uint32_t iteration)
{
    const struct sg_world_setup *setup = world->setup;
    uint64_t delay = fixed_delay_ns(setup, process);
    uint64_t who = (uint64_t)(uint32_t)process;

    if (setup->arrivals_ns != NULL)
        delay += setup->arrivals_ns[(size_t)iteration * (size_t)world->process_count + who];
    if (setup->skew_ns > 0)
        delay += (uint64_t)(sg_random_unit(sg_random(setup->seed, SG_RANDOM_SKEW, who, iteration)) *
                            (double)(setup->skew_ns + 1));
    if (world->network.noise_us > 0)
        delay += sg_network_ns(sg_random_exponential(
            sg_random(setup->seed, SG_RANDOM_NOISE, who, iteration), world->network.noise_us));
    return delay;
}

static void start(struct world *world, int32_t process, uint64_t time_ns)
{
    struct process *self = &world->processes[process];

    self->phase = PHASE_DELAY;
    self->work_end_ns = time_ns + draw_delay_ns(world, process, self->iteration);
    sg_world_push(world, self->work_end_ns, EVENT_WORK_END, (uint32_t)process);
}

static void start_all(struct world *world)
{
    world->remaining = world->process_count;
    world->first_start_ns = world->now_ns;
    world->last_entry_ns = world->last_exit_ns = 0;
    for (int32_t i = 0; i < world->setup->endpoints; i++)
        world->endpoints[i].resting = 0;
    for (int32_t i = 0; i < world->process_count; i++) {
        world->processes[i].iteration = world->iteration;
        start(world, i, world->now_ns);
    }
}

static void sum_heads(struct world *world, uint64_t *early, uint64_t *late)
{
    *early = *late = 0;
    for (int32_t i = 0; i < world->setup->endpoints; i++) {
        *early += head_of(world, i)->early;
        *late += head_of(world, i)->late;
    }
}

static void end_iteration(struct world *world)
{
    uint64_t delay = world->last_exit_ns - world->last_entry_ns;

    if (measuring(world)) {
        uint64_t last_rank_ns = world->processes[world->process_count - 1].entry_ns;

        /* The root of a split call may leave before the last rank has arrived. */
        if (world->root_exit_ns > last_rank_ns)
            world->root_latency_ns += world->root_exit_ns - last_rank_ns;
        world->delay_ns += delay;
        if ((double)delay > world->result.worst_delay_ns)
            world->result.worst_delay_ns = (double)delay;
        world->result.period_ns += (double)(world->now_ns - world->first_start_ns);
    }
    world->iteration++;
    if (world->iteration == world->setup->warmup)
        sum_heads(world, &world->early_before, &world->late_before);
    if (world->iteration < world->setup->warmup + world->setup->iterations)
        start_all(world);
    else
        world->draining = true;
}

/* A free-running process starts its next iteration by itself; the run ends with the last
 * process. */
static bool goes_on(struct world *world, struct process *self)
{
    uint32_t all = world->setup->warmup + world->setup->iterations;

    if (!world->setup->free_running || self->iteration + 1 >= all)
        return false;
    self->iteration++;
    if (self->iteration > world->iteration)
        world->iteration = self->iteration;
    return true;
}

static void work_end(struct world *world, int32_t process)
{
    struct process *self = &world->processes[process];

    if (self->work_end_ns > world->now_ns) {
        sg_world_push(world, self->work_end_ns, EVENT_WORK_END, (uint32_t)process);
        return;
    }
    if (self->phase == PHASE_PROGRAM) {
        world->setup->program->resume(world->setup->program->context, world, process);
        return;
    }
    if (self->phase == PHASE_CALL) {
        /* The call's next chunk starts, or the process was too far ahead of its node and arrives
         * again. */
        sg_endpoint_arrive(world, process, world->now_ns);
        return;
    }
    if (self->phase == PHASE_DELAY) {
        self->phase = PHASE_CALL;
        self->chunk = 0;
        self->entry_ns = world->now_ns;
        if (world->now_ns > world->last_entry_ns)
            world->last_entry_ns = world->now_ns;
        sg_endpoint_enter(world, process);
        return;
    }
    if (goes_on(world, self)) {
        start(world, process, world->now_ns);
        return;
    }
    self->phase = PHASE_REST;
    sg_endpoint_rest(world, process / world->setup->ranks_per_node);
    if (--world->remaining == 0)
        end_iteration(world);
}

/* ---- events */

static void dispatch(struct world *world, const struct sg_queue_entry *entry)
{
    switch (entry->kind) {
    case EVENT_WORK_END:
        work_end(world, (int32_t)entry->index);
        break;
    case EVENT_WAKE:
        sg_endpoint_wake(world, (int32_t)entry->index);
        break;
    case EVENT_TIMER:
        sg_endpoint_timer(world, entry->index);
        break;
    default:
        sg_world_arrive(world, entry->kind, entry->index);
    }
}

/* With strobe_always, strobes continue until the drain. */
static bool goes_on_for_ever(const struct world *world)
{
    return world->setup->parameters.strobe_always && world->draining && !world->drained;
}

static void run_queue(struct world *world)
{
    struct sg_queue_entry entry;

    while (world->status == SG_OK && !goes_on_for_ever(world) &&
           sg_queue_pop(&world->queue, &entry)) {
        world->now_ns = entry.time_ns;
        world->result.events++;
        if (!world->setup->free_running && world->setup->program == NULL &&
            world->now_ns - world->first_start_ns > ITERATION_NS_MAX + world->setup->catchup_ns) {
            sg_world_fail(world, SG_ERR_ARGUMENT, "sim: %s does not end iteration %u",
                          world->setup->algo->name, (unsigned)world->iteration);
        }
        dispatch(world, &entry);
    }
}

static void drain(struct world *world)
{
    world->draining = world->drained = true;
    world->first_start_ns = world->now_ns;
    for (int32_t i = 0; i < world->setup->endpoints; i++)
        sg_endpoint_drain(world, i);
    run_queue(world);
    for (int32_t i = 0; i < world->setup->endpoints; i++) {
        if (head_of(world, i)->outstanding > 0)
            sg_world_fail(world, SG_ERR_ARGUMENT, "sim: %s: endpoint %d is not through at the end",
                          world->setup->algo->name, (int)i);
    }
}

static void start_program(struct world *world)
{
    world->remaining = world->process_count;
    for (int32_t i = 0; i < world->process_count; i++) {
        world->processes[i].phase = PHASE_PROGRAM;
        sg_world_push(world, 0, EVENT_WORK_END, (uint32_t)i);
    }
}

static void run(struct world *world)
{
    if (world->setup->program != NULL)
        start_program(world);
    else
        start_all(world);
    run_queue(world);
    if (world->status == SG_OK && world->remaining > 0)
        sg_world_fail(world, SG_ERR_ARGUMENT,
                      "sim: %s: iteration %u: %d of %d processes never leave their call",
                      world->setup->algo->name, (unsigned)world->iteration, (int)world->remaining,
                      (int)world->process_count);
    if (world->status == SG_OK)
        drain(world);
}

/* Computes means over the measured iterations. */
static void summarise(struct world *world, struct sg_world_result *result)
{
    double iterations = world->setup->iterations;
    uint64_t early, late;

    *result = world->result;
    sum_heads(world, &early, &late);
    for (int32_t i = 0; i < world->setup->endpoints; i++) {
        result->stalls += head_of(world, i)->stalls;
        result->copies += head_of(world, i)->copies;
        result->forwarded += head_of(world, i)->forwarded;
    }
    result->cpu_ns = (double)world->cpu_ns / iterations / world->process_count;
    result->wait_ns = (double)world->wait_ns / iterations;
    result->delay_ns = (double)world->delay_ns / iterations;
    result->latency_ns = (double)world->root_latency_ns / iterations;
    if (world->setup->free_running || world->setup->program != NULL)
        result->period_ns = (double)world->last_exit_ns;
    result->period_ns /= iterations;
    result->signals = (double)world->signals / iterations;
    result->ignored = (double)world->ignored / iterations;
    for (int kind = 0; kind < SG_ACTION_KINDS; kind++)
        result->requests[kind] = (double)world->requests[kind] / iterations;
    result->fetch_adds = (double)world->fetch_adds / iterations;
    result->own_fetch_adds = (double)world->own_fetch_adds / iterations;
    result->early = (double)(early - world->early_before) / iterations;
    result->late = (double)(late - world->late_before) / iterations;
}

/* Processor time, so that the cost of events does not depend on other load. */
static double processor_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

enum sg_status sg_world_run(const struct sg_world_setup *setup, struct sg_world_result *result)
{
    double began_s = processor_seconds();
    struct world world;
    enum sg_status status = open_world(setup, &world);

    if (status != SG_OK)
        return status;
    run(&world);
    status = world.status;
    if (status == SG_OK) {
        world.result.bytes_a_process = world_bytes(&world) / world.process_count;
        summarise(&world, result);
        result->seconds = processor_seconds() - began_s;
    }
    close_world(&world);
    return status;
}

bool sg_world_accepts(const struct sg_world_setup *setup)
{
    struct sg_algo_setup first = algo_setup(setup, 0);
    struct sg_algo_needs needs;

    return (setup->algo->operations & 1U << setup->call.operation) != 0 &&
           setup->algo->needs(&first, &needs);
}
