#include "sim/explore/actions.h"

#include "sim/explore/check.h"

#include <string.h>

struct sg_host_endpoint sg_explore_seen_by_host(const struct sg_explore_world *world,
                                                struct sg_explore_endpoint *endpoint)
{
    return (struct sg_host_endpoint){
        .owner = endpoint,
        .rank = endpoint->rank,
        .size = world->scenario->comm[endpoint->comm].size,
        .peers = &world->peers[endpoint->comm],
        .payload = &endpoint->payload,
        .timer_ns = endpoint->timer_ns,
        .cells = endpoint->cells,
        .watches = endpoint->watches,
        .cells_count = endpoint->needs.cells,
        .parts_most = endpoint->needs.parts,
    };
}

static uint64_t hash_header(const struct sg_header *header)
{
    uint64_t hash = (uint64_t)header->seq << 32 | header->bytes;

    hash ^= (uint64_t)header->kind << 24 ^ (uint64_t)header->parts << 16 ^ header->flags;
    for (int i = 0; i < 5; i++)
        hash = hash * UINT64_C(0x9e3779b97f4a7c15) + header->number[i];
    return hash;
}

/* Ranks of a value, for the trace. */
static void say_value(struct sg_explore_world *world, const char *what,
                      const struct sg_value *value)
{
    fprintf(world->trace, "%s#%u{", what, value->instance);
    for (uint64_t ranks = value->ranks; ranks != 0; ranks &= ranks - 1)
        fprintf(world->trace, "%d%s", __builtin_ctzll(ranks), ranks & (ranks - 1) ? "," : "");
    fputs("}", world->trace);
}

static void say_sent(struct sg_explore_world *world, const struct sg_action *action,
                     const struct sg_value *values)
{
    const struct sg_header *header = &action->send.header;

    if (world->trace == NULL)
        return;
    if (action->kind == SG_ACTION_MULTICAST)
        fputs("        multicasts ", world->trace);
    else
        fprintf(world->trace, "        sends to %d ", action->to);
    fprintf(world->trace, "kind %u seq %u (%u %u %u %u %u)", header->kind, header->seq,
            header->number[0], header->number[1], header->number[2], header->number[3],
            header->number[4]);
    for (uint32_t i = 0; i < header->parts; i++)
        say_value(world, " ", &values[i]);
    fputs(action->solicited ? ", solicited\n" : "\n", world->trace);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void post(struct sg_explore_world *world, const struct sg_explore_endpoint *endpoint,
                 int32_t to, const struct sg_action *action, const struct sg_value *values)
{
    const struct sg_header *header = &action->send.header;
    struct sg_explore_flight *flight = sg_explore_launch(world, endpoint->comm, endpoint->rank, to);

    if (flight == NULL)
        return;
    flight->kind = SG_FLIGHT_MESSAGE;
    flight->multicast = action->kind == SG_ACTION_MULTICAST;
    flight->solicited = action->solicited;
    flight->header = *header;
    flight->values_count = header->parts;
    memcpy(flight->values, values, header->parts * sizeof *values);
    world->history = sg_hash_mix(world->history ^ hash_header(header) ^ (uint64_t)to << 48);
    for (uint32_t i = 0; i < header->parts; i++)
        world->history = sg_hash_mix(world->history + values[i].hash);
    sg_explore_check_queue(world, endpoint, to);
}

static void check_peer(struct sg_explore_world *world, const struct sg_host_endpoint *from,
                       int32_t to)
{
    if (!sg_host_may_name(from, to))
        sg_explore_violate(world, from->owner, "names %d, which is none of its peers", to);
}

static void send(struct sg_host *host, const struct sg_host_endpoint *from,
                 const struct sg_action *action, const struct sg_value *values)
{
    struct sg_explore_world *world = host->world;
    const struct sg_explore_endpoint *endpoint = from->owner;

    say_sent(world, action, values);
    if (action->kind == SG_ACTION_SEND) {
        check_peer(world, from, action->to);
        post(world, endpoint, action->to, action, values);
        return;
    }
    for (int32_t to = 0; to < from->size; to++) {
        if (to != from->rank)
            post(world, endpoint, to, action, values);
    }
}

static void access_remote(struct sg_host *host, const struct sg_host_endpoint *from, int32_t to,
                          const struct sg_host_access *access, const struct sg_value *written)
{
    struct sg_explore_world *world = host->world;
    const struct sg_explore_endpoint *endpoint = from->owner;
    struct sg_explore_flight *flight;

    check_peer(world, from, to);
    flight = sg_explore_launch(world, endpoint->comm, endpoint->rank, to);
    if (flight == NULL)
        return;
    flight->kind = SG_FLIGHT_ACCESS;
    flight->asked = *access;
    flight->values[0] = written != NULL ? *written : (struct sg_value){0};
    flight->values_count = 1;
    world->history = sg_hash_mix(world->history ^ flight->values[0].hash ^ access->value ^
                                 (uint64_t)access->kind << 56);
    if (world->trace)
        fprintf(world->trace, "        accesses %d: action %u, %u, value %llu, tag %u\n", to,
                access->kind, access->remote, (unsigned long long)access->value, access->tag);
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
    struct sg_value value;

    sg_payload_load(&endpoint->payload, action->data.into, action->data.bytes, &value);
    if (sg_explore_instance_at(world, endpoint->comm, action->data.seq) + 1 !=
        (int32_t)value.instance)
        return "combines values by another instance's operation";
    return NULL;
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

static uint64_t set_timer(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                          uint32_t id, uint64_t time_ns)
{
    return time_ns;
}

/* Whether a cell has changed is looked at with every step. */
static void watch(struct sg_host *host, const struct sg_host_endpoint *endpoint, uint32_t id)
{
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

const struct sg_host_scheduler sg_explore_scheduler = {
    .begin = begin,
    .send = send,
    .access = access_remote,
    .combine = combine,
    .set_timer = set_timer,
    .watch = watch,
    .complete = complete,
    .finish = finish,
};
