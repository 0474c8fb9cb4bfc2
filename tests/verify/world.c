#include "verify/world.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 64
#define DELAY_ONE_IN 8
#define DELAY_STEPS 200

bool sg_explore_world_create(struct sg_explore_world *world)
{
    memset(world, 0, sizeof *world);
    world->host.world = world;
    world->host.marks = world->marks;
    world->flights = malloc(SG_EXPLORE_FLIGHTS_MAX * sizeof *world->flights);
    world->host.actions.list = malloc((SG_ACTIONS_MAX + 1) * sizeof *world->host.actions.list);
    world->host.actions.parts = malloc(2 * SG_ACTIONS_MAX * sizeof *world->host.actions.parts);
    if (world->flights && world->host.actions.list && world->host.actions.parts)
        return true;
    sg_explore_world_destroy(world);
    return false;
}

void sg_explore_world_destroy(struct sg_explore_world *world)
{
    free(world->flights);
    free(world->host.actions.list);
    free(world->host.actions.parts);
    free(world->arena);
    memset(world, 0, sizeof *world);
}

const struct sg_algo_head *sg_explore_head(const struct sg_explore_endpoint *endpoint)
{
    return (const struct sg_algo_head *)endpoint->host.state;
}

struct sg_explore_endpoint *sg_explore_endpoint_of(struct sg_explore_world *world, int32_t comm,
                                                   int32_t rank)
{
    return &world->endpoints[comm * world->scenario->nodes + rank];
}

struct sg_explore_process *sg_explore_process_of(struct sg_explore_world *world,
                                                 const struct sg_explore_endpoint *endpoint)
{
    return &world->processes[world->scenario->comm[endpoint->comm].process[endpoint->rank]];
}

int32_t sg_explore_instance_at(const struct sg_explore_world *world, int32_t comm, uint32_t seq)
{
    for (int32_t i = 0; i < world->scenario->instances; i++) {
        if (world->scenario->instance[i].comm == comm && --seq == 0)
            return i;
    }
    return -1;
}

size_t sg_explore_posts_bytes(const struct sg_explore_scenario *scenario)
{
    return sizeof(struct sg_explore_posts) +
           (size_t)scenario->posts * sizeof(struct sg_explore_posted);
}

/* Bytes of a state with its guards. */
static size_t guarded_bytes(size_t state_bytes)
{
    return (state_bytes + ALIGN - 1) / ALIGN * ALIGN + 2 * SG_EXPLORE_GUARD_BYTES;
}

/* Endpoints of ranks that a communicator does not have stay empty. */
static void lay_out(struct sg_explore_world *world, struct sg_host_layout *layout)
{
    const struct sg_explore_scenario *scenario = world->scenario;
    int32_t nodes = scenario->nodes;

    world->endpoints_count = scenario->comms * nodes;
    world->processes = sg_host_reserve(layout, (size_t)nodes * sizeof *world->processes);
    world->endpoints =
        sg_host_reserve(layout, (size_t)world->endpoints_count * sizeof *world->endpoints);
    world->in_flight = sg_host_reserve(layout, (size_t)(world->endpoints_count * nodes) *
                                                   sizeof *world->in_flight);
}

/* Places an endpoint in the arena and sets up the host's view of it. */
static void lay_out_endpoint(struct sg_explore_world *world, struct sg_explore_endpoint *endpoint,
                             struct sg_host_layout *layout)
{
    const struct sg_explore_scenario *scenario = world->scenario;
    size_t state_bytes = endpoint->needs.state_bytes;

    endpoint->host = (struct sg_host_endpoint){
        .owner = endpoint,
        .rank = endpoint->rank,
        .size = scenario->comm[endpoint->comm].size,
        .peers = &world->peers[endpoint->comm],
        .payload = &endpoint->payload,
        .timer_ns = endpoint->timer_ns,
        .watches = endpoint->watches,
    };
    sg_host_lay_out(layout, &endpoint->needs, scenario->parameters.credits, SG_EXPLORE_GUARD_BYTES,
                    &endpoint->host);
    endpoint->cells = endpoint->host.cells;
    endpoint->posts = NULL;
    if (scenario->posts > 0)
        endpoint->posts = sg_host_reserve(layout, sg_explore_posts_bytes(scenario));
    endpoint->spare = NULL;
    if (scenario->relocate)
        endpoint->spare = sg_host_reserve(layout, guarded_bytes(state_bytes));
    if (layout->memory == NULL)
        return;
    memset(endpoint->host.state - SG_EXPLORE_GUARD_BYTES, SG_EXPLORE_GUARD,
           guarded_bytes(state_bytes));
    memset(endpoint->host.state, 0, state_bytes);
    if (endpoint->spare) {
        memset(endpoint->spare, SG_EXPLORE_GUARD, guarded_bytes(state_bytes));
        endpoint->spare += SG_EXPLORE_GUARD_BYTES;
    }
    sg_host_init(&endpoint->host, scenario->algo, &scenario->parameters);
}

/* Runs twice over all endpoints: to find their size, and to place them. */
static bool place(struct sg_explore_world *world, struct sg_host_layout *layout)
{
    const struct sg_explore_scenario *scenario = world->scenario;

    lay_out(world, layout);
    for (int32_t e = 0; e < world->endpoints_count; e++) {
        int32_t comm = e / scenario->nodes, rank = e % scenario->nodes;
        struct sg_algo_setup setup = {rank, scenario->comm[comm].size, scenario->parameters};
        struct sg_explore_endpoint counted = {0};
        struct sg_explore_endpoint *endpoint = layout->memory ? &world->endpoints[e] : &counted;

        *endpoint = (struct sg_explore_endpoint){
            .comm = comm, .rank = rank, .first = setup.parameters.first, .changed = true};
        if (rank >= setup.size) {
            endpoint->changed = false;
            for (int id = 0; id < SG_TIMERS; id++)
                endpoint->timer_ns[id] = SG_TIMER_UNSET;
            continue;
        }
        if (!scenario->algo->needs(&setup, &endpoint->needs))
            return false;
        lay_out_endpoint(world, endpoint, layout);
    }
    return true;
}

static void seat_processes(struct sg_explore_world *world)
{
    const struct sg_explore_scenario *scenario = world->scenario;

    memset(world->rank, -1, sizeof world->rank);
    for (int32_t comm = 0; comm < scenario->comms; comm++) {
        for (int32_t rank = 0; rank < scenario->comm[comm].size; rank++)
            world->rank[comm][scenario->comm[comm].process[rank]] = rank;
    }
}

static void find_peers(struct sg_explore_world *world)
{
    const struct sg_explore_scenario *scenario = world->scenario;

    memset(world->peers, 0, sizeof world->peers);
    for (int32_t i = 0; i < scenario->instances; i++) {
        const struct sg_explore_instance *instance = &scenario->instance[i];

        sg_host_add_peers(&world->peers[instance->comm], scenario->algo,
                          scenario->comm[instance->comm].size, &scenario->parameters,
                          &instance->call);
    }
    /* With posts, any endpoint may send to any other. */
    if (scenario->posts > 0)
        memset(world->peers, 0xff, sizeof world->peers);
}

bool sg_explore_world_open(struct sg_explore_world *world,
                           const struct sg_explore_scenario *scenario)
{
    struct sg_host_layout layout = {NULL, 0};

    world->scenario = scenario;
    world->host.algo = scenario->algo;
    world->host.first = scenario->parameters.first;
    if (!place(world, &layout))
        return false;
    if (layout.used > world->arena_capacity) {
        free(world->arena);
        world->arena_capacity = 0;
        world->arena = aligned_alloc(ALIGN, layout.used);
        if (world->arena == NULL)
            return false;
        world->arena_capacity = layout.used;
    }
    world->arena_bytes = layout.used;
    memset(world->arena, 0, layout.used);
    layout = (struct sg_host_layout){world->arena, 0};
    place(world, &layout);
    seat_processes(world);
    find_peers(world);
    memset(world->expected, 0, sizeof world->expected);
    for (uint32_t i = 0; i < SG_EXPLORE_FLIGHTS_MAX; i++)
        world->live[i] = (uint16_t)i;
    world->live_count = 0;
    world->now_ns = 0;
    world->history = SG_HASH_START;
    world->step = 0;
    world->launched = 0;
    world->polls = scenario->faults & 1u << SG_FAULT_POLL ? sg_hash_mix(scenario->seed) : 0;
    world->violation[0] = '\0';
    return true;
}

void sg_explore_violate(struct sg_explore_world *world, const struct sg_explore_endpoint *endpoint,
                        const char *format, ...)
{
    char what[SG_EXPLORE_VIOLATION_BYTES - 64];
    va_list arguments;

    if (world->violation[0] != '\0')
        return;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (endpoint)
        snprintf(world->violation, sizeof world->violation, "endpoint %d of communicator %d %s",
                 endpoint->rank, endpoint->comm, what);
    else
        snprintf(world->violation, sizeof world->violation, "%s", what);
}

void sg_explore_say(struct sg_explore_world *world, const char *format, ...)
{
    va_list arguments;

    if (world->trace == NULL)
        return;
    va_start(arguments, format);
    vfprintf(world->trace, format, arguments);
    va_end(arguments);
    fputc('\n', world->trace);
}

/* Number of steps that a flight is delayed: usually 0. */
static uint32_t delay(const struct sg_explore_scenario *scenario, uint32_t number)
{
    struct sg_explore_random random =
        sg_explore_stream(scenario->seed + scenario->schedule, number);

    return sg_explore_one_in(&random, DELAY_ONE_IN) ? sg_explore_below(&random, DELAY_STEPS) : 0;
}

struct sg_explore_flight *sg_explore_launch(struct sg_explore_world *world, int32_t comm,
                                            const struct sg_flight *base)
{
    struct sg_explore_flight *flight;

    if (world->live_count == SG_EXPLORE_FLIGHTS_MAX) {
        sg_explore_violate(world, NULL, "more than %d messages are in flight",
                           SG_EXPLORE_FLIGHTS_MAX);
        return NULL;
    }
    flight = &world->flights[world->live[world->live_count++]];
    memset(flight, 0, offsetof(struct sg_explore_flight, values));
    flight->base = *base;
    flight->comm = comm;
    world->launched++;
    if (world->scenario->faults & 1u << SG_FAULT_DELAY)
        flight->base.own = world->step + delay(world->scenario, world->launched);
    return flight;
}
