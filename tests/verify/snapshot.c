#include "verify/snapshot.h"

#include "verify/intern.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of a flight that are in use. */
static size_t flight_bytes(const struct sg_explore_flight *flight)
{
    return offsetof(struct sg_explore_flight, values) +
           flight->values_count * sizeof flight->values[0];
}

static size_t snapshot_bytes(const struct sg_explore_world *world)
{
    size_t bytes = world->arena_bytes;

    for (uint32_t i = 0; i < world->live_count; i++)
        bytes += flight_bytes(&world->flights[world->live[i]]);
    return bytes;
}

bool sg_explore_save(const struct sg_explore_world *world, struct sg_explore_snapshot *snapshot)
{
    size_t bytes = snapshot_bytes(world);
    unsigned char *at;

    if (bytes > snapshot->capacity) {
        unsigned char *larger = realloc(snapshot->bytes, bytes);

        if (larger == NULL)
            return false;
        snapshot->bytes = larger;
        snapshot->capacity = bytes;
    }
    memcpy(snapshot->bytes, world->arena, world->arena_bytes);
    at = snapshot->bytes + world->arena_bytes;
    for (uint32_t i = 0; i < world->live_count; i++) {
        const struct sg_explore_flight *flight = &world->flights[world->live[i]];

        memcpy(at, flight, flight_bytes(flight));
        at += flight_bytes(flight);
    }
    snapshot->now_ns = world->now_ns;
    snapshot->live_count = world->live_count;
    snapshot->step = world->step;
    snapshot->launched = world->launched;
    return true;
}

void sg_explore_restore(struct sg_explore_world *world, const struct sg_explore_snapshot *snapshot)
{
    const unsigned char *at = snapshot->bytes + world->arena_bytes;

    memcpy(world->arena, snapshot->bytes, world->arena_bytes);
    for (uint32_t i = 0; i < snapshot->live_count; i++) {
        struct sg_explore_flight *flight = &world->flights[world->live[i]];

        memcpy(flight, at, offsetof(struct sg_explore_flight, values));
        memcpy(flight->values, at + offsetof(struct sg_explore_flight, values),
               flight->values_count * sizeof flight->values[0]);
        at += flight_bytes(flight);
    }
    world->now_ns = snapshot->now_ns;
    world->live_count = snapshot->live_count;
    world->step = snapshot->step;
    world->launched = snapshot->launched;
    world->violation[0] = '\0';
}

void sg_explore_snapshot_clear(struct sg_explore_snapshot *snapshot)
{
    free(snapshot->bytes);
    memset(snapshot, 0, sizeof *snapshot);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static uint64_t add_value(uint64_t hash, const struct sg_value *value)
{
    if (value->count == 0)
        return sg_intern_hash_word(hash, 0);
    return sg_intern_hash_word(
        sg_intern_hash_word(sg_intern_hash_word(hash, value->hash), value->ranks), value->instance);
}

uint64_t sg_explore_clock_of(const struct sg_explore_world *world,
                             const struct sg_explore_endpoint *endpoint)
{
    /* Absolute time determines how long calls linger and where slices begin. */
    bool counts =
        world->scenario->parameters.linger_ns > 0 || world->scenario->algo == &sg_algo_bcs;

    return counts ? endpoint->ahead_ns : 0;
}

/* Ignores the statistics counters in the head, which do not affect future steps. */
static uint64_t endpoint_key(const struct sg_explore_world *world,
                             const struct sg_explore_endpoint *endpoint)
{
    const struct sg_algo_head *head = sg_explore_head(endpoint);
    uint64_t hash =
        sg_intern_hash_word(SG_HASH_START, (uint64_t)head->outstanding << 1 | head->in_call);

    hash = sg_intern_hash(hash, head + 1, endpoint->needs.state_bytes - sizeof *head);

    for (uint32_t i = 0; i < endpoint->payload.slots_count; i++)
        hash = add_value(hash, &endpoint->payload.slots[i]);
    for (uint32_t i = 0; i < endpoint->payload.results_count; i++)
        hash = add_value(hash, &endpoint->payload.results[i]);
    hash = sg_intern_hash(hash, endpoint->cells, endpoint->needs.cells * sizeof *endpoint->cells);
    if (endpoint->posts != NULL)
        hash = sg_intern_hash(hash, endpoint->posts, sg_explore_posts_bytes(world->scenario));
    for (int id = 0; id < SG_TIMERS; id++) {
        bool set = endpoint->timer_ns[id] != SG_TIMER_UNSET;

        if (set)
            hash = sg_intern_hash_word(hash, endpoint->timer_ns[id] - endpoint->ahead_ns);
        hash = sg_intern_hash_word(hash, set);
    }
    for (int id = 0; id < SG_WATCHES; id++) {
        const struct sg_host_watch *watch = &endpoint->watches[id];

        if (watch->set)
            hash = sg_intern_hash_word(
                sg_intern_hash_word(sg_intern_hash_word(hash, watch->value), watch->cell),
                (uint64_t)id);
    }
    hash = sg_intern_hash_word(hash, (uint64_t)endpoint->calls << 32 | endpoint->completes);
    hash = sg_intern_hash_word(hash, sg_explore_clock_of(world, endpoint));
    return sg_intern_hash_word(hash, endpoint->finished);
}

static uint64_t flight_key(const struct sg_explore_flight *flight)
{
    uint64_t hash = sg_intern_hash(SG_HASH_START, &flight->base, sizeof flight->base);

    hash = sg_intern_hash_word(hash, (uint64_t)flight->comm << 1 | flight->repeated);
    for (uint32_t i = 0; i < flight->values_count; i++)
        hash = add_value(hash, &flight->values[i]);
    return hash;
}

/* Position of an access among those from its initiator to its target: they take effect in order, so
 * the position is part of the key. */
static uint64_t place_of(const struct sg_explore_world *world, uint32_t live)
{
    const struct sg_explore_flight *flight = &world->flights[world->live[live]];
    uint64_t place = 0;

    for (uint32_t i = 0; flight->base.kind == SG_FLIGHT_ACCESS && i < live; i++) {
        const struct sg_explore_flight *other = &world->flights[world->live[i]];

        place += other->base.kind == SG_FLIGHT_ACCESS && other->base.from == flight->base.from &&
                 other->base.to == flight->base.to && other->comm == flight->comm;
    }
    return place;
}

uint64_t sg_explore_key(struct sg_explore_world *world)
{
    uint64_t hash = SG_HASH_START, flights = 0;

    for (int32_t e = 0; e < world->endpoints_count; e++) {
        struct sg_explore_endpoint *endpoint = &world->endpoints[e];

        if (endpoint->changed) {
            endpoint->hash = endpoint_key(world, endpoint);
            endpoint->changed = false;
        }
        hash = sg_intern_hash_word(hash, endpoint->hash);
    }
    for (int32_t process = 0; process < world->scenario->nodes; process++)
        hash = sg_intern_hash_word(hash, (uint64_t)world->processes[process].state << 32 |
                                             (uint64_t)world->processes[process].next);
    for (uint32_t i = 0; i < world->live_count; i++)
        flights += sg_hash_mix(flight_key(&world->flights[world->live[i]]) + place_of(world, i));
    return sg_hash_mix(sg_intern_hash_word(hash, flights));
}
