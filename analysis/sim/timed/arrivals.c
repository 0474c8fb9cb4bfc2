#include "sim/timed/arrivals.h"

#include "sim/random.h"
#include "sim/timed/actions.h"
#include "sim/timed/endpoint.h"

/* ---- messages */

/* The first byte arrives: the adapter receives one message after another. */
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

/* If delays vary, each receiver has an event of its own. */
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

/* The reply travels back to the initiator. */
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

/* The reply to a READ is in the initiator's memory. */
static void land(struct world *world, const struct item *reply)
{
    struct sg_payload payload;

    if (reply->parts == NULL)
        return;
    sg_world_endpoint(world, reply->base.to, &payload);
    sg_world_check(world, sg_payload_store(&payload, reply->base.into, reply->parts->values));
}

void sg_world_arrive(struct world *world, uint32_t kind, uint32_t index)
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
