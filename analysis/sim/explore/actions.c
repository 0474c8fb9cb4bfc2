#include "sim/explore/actions.h"

#include "sim/explore/check.h"
#include "sim/explore/posts.h"

#include <string.h>

static uint64_t hash_header(const struct sg_header *header)
{
    uint64_t hash = (uint64_t)header->seq << 32 | header->bytes;

    hash ^= (uint64_t)header->kind << 24 ^ (uint64_t)header->parts << 16 ^ header->flags;
    for (int i = 0; i < 5; i++)
        hash = hash * UINT64_C(0x9e3779b97f4a7c15) + header->number[i];
    return hash;
}

/* The ranks in a value, for the trace. */
static void say_value(struct sg_explore_world *world, const char *what,
                      const struct sg_value *value)
{
    fprintf(world->trace, "%s#%u{", what, value->instance);
    for (uint64_t ranks = value->ranks; ranks != 0; ranks &= ranks - 1)
        fprintf(world->trace, "%d%s", __builtin_ctzll(ranks), ranks & (ranks - 1) ? "," : "");
    fputs("}", world->trace);
}

static void say_sent(struct sg_explore_world *world, const struct sg_flight *flight,
                     const struct sg_value *values)
{
    const struct sg_header *header = &flight->header;

    if (world->trace == NULL)
        return;
    if (flight->kind == SG_FLIGHT_ACCESS) {
        fprintf(world->trace, "        accesses %d: action %u, %u, value %llu, tag %u\n",
                flight->to, flight->asked, flight->access.remote,
                (unsigned long long)flight->access.value, flight->tag);
        return;
    }
    if (flight->multicast)
        fputs("        multicasts ", world->trace);
    else
        fprintf(world->trace, "        sends to %d ", flight->to);
    fprintf(world->trace, "kind %u seq %u (%u %u %u %u %u)", header->kind, header->seq,
            header->number[0], header->number[1], header->number[2], header->number[3],
            header->number[4]);
    for (uint32_t i = 0; i < header->parts; i++)
        say_value(world, " ", &values[i]);
    fputs(flight->solicited ? ", solicited\n" : "\n", world->trace);
}

/* ---- what is sent ---------------------------------------------------------------------------- */

static void launch_message(struct sg_explore_world *world,
                           const struct sg_explore_endpoint *endpoint, const struct sg_flight *sent,
                           const struct sg_value *values)
{
    const struct sg_header *header = &sent->header;
    struct sg_explore_flight *flight = sg_explore_launch(world, endpoint->comm, sent);

    if (flight == NULL)
        return;
    flight->values_count = header->parts;
    memcpy(flight->values, values, header->parts * sizeof *values);
    world->history = sg_hash_mix(world->history ^ hash_header(header) ^ (uint64_t)sent->to << 48);
    for (uint32_t i = 0; i < header->parts; i++)
        world->history = sg_hash_mix(world->history + values[i].hash);
    sg_explore_check_queue(world, endpoint, sent->to);
}

static void launch_access(struct sg_explore_world *world,
                          const struct sg_explore_endpoint *endpoint,
                          const struct sg_flight *access, const struct sg_value *written)
{
    struct sg_explore_flight *flight = sg_explore_launch(world, endpoint->comm, access);

    if (flight == NULL)
        return;
    flight->values[0] = written != NULL ? *written : (struct sg_value){0};
    flight->values_count = 1;
    world->history = sg_hash_mix(world->history ^ flight->values[0].hash ^ access->access.value ^
                                 (uint64_t)access->asked << 56);
}

static void launch(struct sg_host *host, const struct sg_host_endpoint *from,
                   const struct sg_flight *flight, const struct sg_value *values)
{
    struct sg_explore_world *world = host->world;
    struct sg_flight copy = *flight;

    say_sent(world, flight, values);
    if (flight->kind == SG_FLIGHT_ACCESS) {
        launch_access(world, from->owner, flight, values);
    } else if (!flight->multicast) {
        launch_message(world, from->owner, flight, values);
    } else {
        for (copy.to = 0; copy.to < from->size; copy.to++) {
            if (copy.to != from->rank)
                launch_message(world, from->owner, &copy, values);
        }
    }
}

/* ---- the rest -------------------------------------------------------------------------------- */

static bool begin(struct sg_host *host, const struct sg_host_endpoint *of,
                  const struct sg_action *action)
{
    struct sg_explore_world *world = host->world;
    const struct sg_explore_endpoint *endpoint = of->owner;
    bool combine = action->kind == SG_ACTION_COPY || action->kind == SG_ACTION_REDUCE;

    if (world->violation[0] != '\0')
        return false;
    world->history = sg_hash_mix(world->history + action->kind);
    if (combine && action->data.into.kind == SG_DATA_RESULT &&
        !sg_explore_owns_result(world, endpoint, action->data.into.index))
        sg_explore_violate(world, endpoint,
                           "writes to the result of an instance that has none here, or is over");
    return world->violation[0] == '\0';
}

/* A REDUCE names the instance whose operation it wants. */
static const char *check_operation(const struct sg_explore_world *world,
                                   const struct sg_explore_endpoint *endpoint,
                                   const struct sg_action *action)
{
    uint32_t seq = (uint32_t)(action->data.seq - endpoint->first);
    struct sg_value value;

    sg_payload_load(&endpoint->payload, action->data.into, action->data.bytes, &value);
    if (sg_explore_instance_at(world, endpoint->comm, seq) + 1 != (int32_t)value.instance)
        return "combines values by another instance's operation";
    return sg_explore_check_user(world, endpoint, seq);
}

static const char *combine(struct sg_host *host, const struct sg_host_endpoint *of,
                           const struct sg_action *action)
{
    static const char *const kinds[] = {"nothing", "operand", "result", "slot", "part"};
    struct sg_explore_world *world = host->world;
    const struct sg_explore_endpoint *endpoint = of->owner;
    const char *wrong = NULL;

    if (action->kind == SG_ACTION_REDUCE)
        wrong = check_operation(world, endpoint, action);
    if (world->trace && wrong == NULL) {
        struct sg_value value;

        sg_payload_load(&endpoint->payload, action->data.into, action->data.bytes, &value);
        fprintf(world->trace, "        %s %s %u now",
                action->kind == SG_ACTION_COPY ? "copies:" : "reduces:",
                kinds[action->data.into.kind], action->data.into.index);
        say_value(world, " ", &value);
        fputc('\n', world->trace);
    }
    return wrong;
}

static void complete(struct sg_host *host, const struct sg_host_endpoint *of)
{
    struct sg_explore_world *world = host->world;
    struct sg_explore_endpoint *endpoint = of->owner;

    sg_explore_say(world, "        completes");
    sg_explore_check_complete(world, endpoint);
    endpoint->completes++;
    endpoint->payload.operand = NULL;
    sg_explore_process_of(world, endpoint)->state = SG_PROCESS_COMPUTING;
}

static void finish(struct sg_host *host, const struct sg_host_endpoint *endpoint, uint32_t seq)
{
    struct sg_explore_world *world = host->world;

    sg_explore_say(world, "        finishes #%u", seq);
    sg_explore_check_finish(world, endpoint->owner, seq);
}

/* Timers and watches are handled where steps are chosen. */
const struct sg_host_scheduler sg_explore_scheduler = {
    .begin = begin,
    .launch = launch,
    .combine = combine,
    .complete = complete,
    .finish = finish,
    .fill = sg_explore_fill,
    .drain = sg_explore_drain_post,
    .deliver = sg_explore_deliver,
};
