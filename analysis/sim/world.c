/* The event loop and the iterations. */
#include "core/hash.h"
#include "sim/node_level.h"
#include "sim/random.h"
#include "sim/world_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* An iteration that takes longer does not end. */
#define ITERATION_NS_MAX UINT64_C(1000000000000)

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

        /* A split root leaves before that rank may have come. */
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

/* A free-running process goes on by itself; the run is over with the last one. */
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
    if (self->phase == PHASE_CALL) {
        /* Was too far ahead of its node. */
        sg_endpoint_arrive(world, process, world->now_ns);
        return;
    }
    if (self->phase == PHASE_DELAY) {
        self->phase = PHASE_CALL;
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

/* ---- the network's side */

static void arrive(struct world *world, uint32_t index)
{
    struct item *item = &world->items[index];
    struct endpoint *endpoint = &world->endpoints[item->endpoint];
    uint64_t bytes = (uint64_t)item->message.header.parts * item->message.header.bytes;
    uint64_t from_ns = endpoint->receive_ns > world->now_ns ? endpoint->receive_ns : world->now_ns;

    endpoint->receive_ns = from_ns + sg_network_gap_ns(&world->network, bytes);
    sg_world_push(world, endpoint->receive_ns, EVENT_READY, index);
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

/* Where delays vary each receiver has an event of its own. */
static void multicast_one(struct world *world, const struct item *item)
{
    uint64_t random;
    uint32_t index;

    if (item->parts != NULL)
        item->parts->references++;
    if (world->network.jitter_us <= 0) {
        sg_endpoint_deliver(world, item);
        return;
    }
    random = sg_random(world->setup->seed, SG_RANDOM_JITTER, (uint64_t)(uint32_t)item->endpoint,
                       world->message_number++);
    index = sg_item_alloc(world, item);
    if (index != NONE)
        sg_world_push(world,
                      world->now_ns +
                          sg_network_ns(sg_random_exponential(random, world->network.jitter_us)),
                      EVENT_READY, index);
}

static void multicast(struct world *world, const struct item *item)
{
    uint64_t number = world->multicast_number++;
    struct item copy = *item;

    for (int32_t to = 0; to < world->setup->endpoints; to++) {
        if (to == item->from || lost(world, to, number))
            continue;
        copy.endpoint = to;
        multicast_one(world, &copy);
        world->result.events++;
    }
    sg_parts_release(item->parts);
}

static void dispatch(struct world *world, const struct sg_queue_entry *entry)
{
    struct item item;

    switch (entry->kind) {
    case EVENT_WORK_END:
        work_end(world, (int32_t)entry->index);
        return;
    case EVENT_WAKE:
        sg_endpoint_wake(world, (int32_t)entry->index);
        return;
    case EVENT_TIMER:
        sg_endpoint_timer(world, entry->index);
        return;
    case EVENT_ARRIVE:
        if (world->items[entry->index].message.header.bytes > 0) {
            arrive(world, entry->index);
            return;
        }
        break;
    }
    item = world->items[entry->index];
    sg_item_release(world, entry->index);
    if (entry->kind == EVENT_MULTICAST) {
        multicast(world, &item);
    } else if (entry->kind == EVENT_ACCESS) {
        sg_access_effect(world, &item);
        sg_parts_release(item.parts);
    } else {
        if (item.kind == ITEM_REPLY)
            sg_values_land(world, &item);
        sg_endpoint_deliver(world, &item);
    }
}

static void run_queue(struct world *world)
{
    struct sg_queue_entry entry;

    while (world->status == SG_OK && sg_queue_pop(&world->queue, &entry)) {
        world->now_ns = entry.time_ns;
        world->result.events++;
        if (!world->setup->free_running &&
            world->now_ns - world->first_start_ns > ITERATION_NS_MAX + world->setup->catchup_ns) {
            sg_world_fail(world, SG_ERR_ARGUMENT, "sim: %s does not end iteration %u",
                          world->setup->algo->name, (unsigned)world->iteration);
        }
        dispatch(world, &entry);
    }
}

static void drain(struct world *world)
{
    world->draining = true;
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

static void run(struct world *world)
{
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

/* Means over the measured iterations. */
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
    if (world->setup->free_running)
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

/* Processor time: what events cost does not depend on who else runs. */
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
    enum sg_status status = sg_world_open(setup, &world);

    if (status != SG_OK)
        return status;
    run(&world);
    status = world.status;
    if (status == SG_OK) {
        world.result.bytes_a_process = sg_world_bytes(&world) / world.process_count;
        summarise(&world, result);
        result->seconds = processor_seconds() - began_s;
    }
    sg_world_close(&world);
    return status;
}
