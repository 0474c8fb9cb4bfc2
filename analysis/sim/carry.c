/* What actions do, and what they cost: an overhead for each message and access, a time per byte for
 * copies and reductions, one after the other on the endpoint's processor. The adapter sends one
 * message after another, G for each byte, and receives likewise (world.c).
 */
#include "sim/peers.h"
#include "sim/random.h"
#include "sim/world_impl.h"

static uint64_t per_byte_ns(double ns_per_byte, uint32_t bytes)
{
    return (uint64_t)((double)bytes * ns_per_byte + 0.5);
}

/* The delay that a message takes on top of its latency. */
static uint64_t jitter_ns(struct world *world, int32_t to)
{
    uint64_t random;

    if (world->network.jitter_us <= 0)
        return 0;
    random = sg_random(world->setup->seed, SG_RANDOM_JITTER, (uint64_t)(uint32_t)to,
                       world->message_number++);
    return sg_network_ns(sg_random_exponential(random, world->network.jitter_us));
}

/* The message's turn at the adapter, which is then taken for its bytes. */
static uint64_t depart(struct world *world, int32_t number, uint64_t time_ns, uint64_t bytes)
{
    struct endpoint *endpoint = &world->endpoints[number];
    uint64_t departure_ns = endpoint->send_ns > time_ns ? endpoint->send_ns : time_ns;

    endpoint->send_ns = departure_ns + sg_network_gap_ns(&world->network, bytes);
    return departure_ns;
}

static struct item message_of(struct world *world, int32_t from, const struct sg_action *action)
{
    struct item item = {
        .kind = ITEM_MESSAGE,
        .solicited = action->solicited,
        .endpoint = action->to,
        .from = from,
        .message = {.from = from, .header = action->send.header},
    };

    if (item.message.header.parts > 0)
        item.parts = sg_values_gather(world, action);
    return item;
}

static uint64_t bytes_of(const struct sg_header *header)
{
    return (uint64_t)header->parts * header->bytes;
}

static uint64_t carry_send(struct world *world, int32_t from, const struct sg_action *action,
                           uint64_t time_ns)
{
    struct item item = message_of(world, from, action);
    uint32_t index = sg_item_alloc(world, &item);
    uint64_t departure_ns;

    time_ns += world->overhead_ns;
    departure_ns = depart(world, from, time_ns, bytes_of(&action->send.header));
    if (index != NONE)
        sg_world_push(world, departure_ns + world->latency_ns + jitter_ns(world, action->to),
                      EVENT_ARRIVE, index);
    return time_ns;
}

/* The wire's share of the multicast's latency: it includes both overheads. */
static uint64_t multicast_wire_ns(const struct world *world, uint64_t bytes)
{
    uint64_t whole_ns = sg_network_multicast_ns(&world->network, bytes);

    return whole_ns > 2 * world->overhead_ns ? whole_ns - 2 * world->overhead_ns : 0;
}

static uint64_t carry_multicast(struct world *world, int32_t from, const struct sg_action *action,
                                uint64_t time_ns)
{
    struct item item = message_of(world, from, action);
    uint64_t bytes = bytes_of(&action->send.header);
    uint64_t departure_ns;
    uint32_t index;

    item.solicited = false;
    item.message.multicast = true;
    index = sg_item_alloc(world, &item);
    time_ns += world->overhead_ns;
    departure_ns = depart(world, from, time_ns, bytes);
    world->result.multicasts++;
    if (index != NONE)
        sg_world_push(world, departure_ns + multicast_wire_ns(world, bytes), EVENT_MULTICAST,
                      index);
    return time_ns;
}

static void set_timer(struct world *world, int32_t number, const struct sg_action *action,
                      uint64_t time_ns)
{
    uint64_t at_ns = action->timer.time_ns > time_ns ? action->timer.time_ns : time_ns;
    uint64_t *timer_ns = &world->endpoints[number].timer_ns[action->id % SG_TIMERS];

    if (*timer_ns == at_ns)
        return;
    *timer_ns = at_ns;
    sg_world_push(world, at_ns, EVENT_TIMER, (uint32_t)number * SG_TIMERS + action->id % SG_TIMERS);
}

static uint64_t carry_one(struct world *world, int32_t number, const struct sg_action *action,
                          uint64_t time_ns)
{
    struct endpoint *endpoint = &world->endpoints[number];

    if (measuring(world))
        world->requests[action->kind]++;
    switch (action->kind) {
    case SG_ACTION_SEND:
        return carry_send(world, number, action, time_ns);
    case SG_ACTION_MULTICAST:
        return carry_multicast(world, number, action, time_ns);
    case SG_ACTION_COPY:
        sg_values_action(world, number, action);
        return time_ns + per_byte_ns(world->network.copy_ns_per_byte, action->data.bytes);
    case SG_ACTION_REDUCE:
        sg_values_action(world, number, action);
        return time_ns + per_byte_ns(world->network.reduce_ns_per_byte, action->data.bytes);
    case SG_ACTION_SET_TIMER:
        set_timer(world, number, action, time_ns);
        return time_ns;
    case SG_ACTION_STOP_TIMER:
        endpoint->timer_ns[action->id % SG_TIMERS] = NEVER;
        return time_ns;
    case SG_ACTION_COMPLETE:
        endpoint->completed = true;
        return time_ns;
    case SG_ACTION_FINISH:
        sg_values_check(world, number, action->instance.seq);
        return time_ns;
    case SG_ACTION_WATCH:
        sg_access_watch(world, number, action);
        return time_ns;
    default:
        return sg_access_issue(world, number, action, time_ns);
    }
}

/* Whom the protocol names it has told before. Of larger worlds this would take most of the time. */
static void check_peers(struct world *world, int32_t number)
{
    const struct sg_world_setup *setup = world->setup;
    struct sg_algo_setup own = {number, setup->endpoints, setup->parameters};
    bool named[SG_SIM_PEERS_MAX] = {false}, asked = false;

    for (uint32_t i = 0; i < world->actions.count && setup->endpoints <= SG_SIM_PEERS_MAX; i++) {
        int32_t to = world->actions.list[i].to;

        if (to < 0 || world->actions.list[i].kind == SG_ACTION_WATCH)
            continue;
        if (!asked)
            sg_sim_peers(setup->algo, &own, &setup->call, named);
        asked = true;
        if (!named[to])
            sg_world_fail(world, SG_ERR_ARGUMENT, "sim: node %d names %d, which is no peer of it",
                          (int)number, (int)to);
    }
}

uint64_t sg_carry_out(struct world *world, int32_t number, uint64_t start_ns)
{
    uint64_t time_ns = start_ns;

    check_peers(world, number);
    for (uint32_t i = 0; i < world->actions.count; i++)
        time_ns = carry_one(world, number, &world->actions.list[i], time_ns);
    return time_ns;
}
