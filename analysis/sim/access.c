/* One-sided actions: o at the initiator, L + G bytes to the target's adapter, which needs no
 * processor, and the same back where there is an answer. To its own memory an endpoint writes and
 * reads without the adapter, at the cost of a copy; an atomic access goes through it all the same,
 * because adapters' atomics are atomic among themselves only.
 */
#include "sim/world_impl.h"

static uint64_t copy_ns(const struct world *world, uint32_t bytes)
{
    return (uint64_t)((double)bytes * world->network.copy_ns_per_byte + 0.5);
}

static uint64_t later(uint64_t left_ns, uint64_t right_ns)
{
    return left_ns > right_ns ? left_ns : right_ns;
}

static bool atomic(const struct item *item)
{
    return item->id == SG_ACTION_FETCH_ADD;
}

/* Own memory: effects come in the order issued, behind an atomic access that is under way. */
static uint64_t issue_self(struct world *world, struct item *item, uint64_t time_ns)
{
    struct onesided *own = &world->onesided[item->endpoint];
    uint64_t effect_ns;
    uint32_t index;

    if (atomic(item)) {
        time_ns += world->overhead_ns;
        effect_ns = time_ns + world->loopback_ns;
    } else {
        time_ns += copy_ns(world, item->access.bytes);
        effect_ns = time_ns;
    }
    own->self_ns = later(own->self_ns, effect_ns);
    index = sg_item_alloc(world, item);
    if (index != NONE)
        sg_world_push(world, own->self_ns, EVENT_ACCESS, index);
    return time_ns;
}

uint64_t sg_access_issue(struct world *world, int32_t number, const struct sg_action *action,
                         uint64_t time_ns)
{
    struct endpoint *endpoint = &world->endpoints[number];
    bool write = action->kind == SG_ACTION_WRITE || action->kind == SG_ACTION_WRITE_RESULT;
    uint64_t gap_ns = sg_network_gap_ns(&world->network, write ? action->access.bytes : 0);
    struct item item = {
        .kind = ITEM_ACCESS,
        .solicited = action->solicited,
        .id = action->kind,
        .endpoint = action->to,
        .from = number,
        .access = {.value = action->access.value,
                   .bytes = action->access.bytes,
                   .remote = action->access.remote,
                   .count = action->access.count,
                   .tag = action->access.tag,
                   .into = action->access.into},
    };
    uint64_t departure_ns;
    uint32_t index;

    if (write)
        item.parts = sg_values_gather(world, action);
    if (atomic(&item) && measuring(world)) {
        world->fetch_adds++;
        world->own_fetch_adds += action->to == number;
    }
    if (action->to == number)
        return issue_self(world, &item, time_ns);
    time_ns += world->overhead_ns;
    departure_ns = later(endpoint->send_ns, time_ns);
    endpoint->send_ns = departure_ns + gap_ns;
    index = sg_item_alloc(world, &item);
    if (index != NONE)
        sg_world_push(world, departure_ns + gap_ns + world->latency_ns, EVENT_ACCESS, index);
    return time_ns;
}

/* ---- at the target */

uint64_t sg_access_cell(const struct world *world, int32_t number, uint32_t cell)
{
    return world->cells[(size_t)number * world->needs.cells + cell];
}

static struct item noticed(int32_t number, uint16_t id, struct watch *watch)
{
    struct item item = {.kind = ITEM_WATCH,
                        .endpoint = number,
                        .id = id,
                        .solicited = watch->solicited,
                        .access = {.remote = watch->cell}};

    watch->cell = NONE;
    return item;
}

static void fire_watches(struct world *world, int32_t number, uint32_t cell)
{
    uint64_t value = sg_access_cell(world, number, cell);

    for (uint16_t id = 0; id < SG_WATCHES; id++) {
        struct watch *watch = &world->onesided[number].watches[id];
        struct item item;

        if (watch->cell != cell || watch->value == value)
            continue;
        item = noticed(number, id, watch);
        sg_endpoint_deliver(world, &item);
    }
}

void sg_access_watch(struct world *world, int32_t number, const struct sg_action *action)
{
    struct watch *watch = &world->onesided[number].watches[action->id % SG_WATCHES];
    struct item item;
    uint32_t index;

    *watch = (struct watch){
        .value = action->access.value,
        .cell = action->access.remote,
        .solicited = action->solicited,
    };
    if (sg_access_cell(world, number, watch->cell) == watch->value)
        return;
    /* Already so: seen at the next look. */
    item = noticed(number, action->id, watch);
    index = sg_item_alloc(world, &item);
    if (index != NONE)
        sg_world_push(world, later(world->now_ns, world->endpoints[number].busy_ns), EVENT_READY,
                      index);
}

/* The answer's way back to the initiator, of `bytes` bytes of payload. */
static void answer(struct world *world, const struct item *access, struct item *reply,
                   uint32_t bytes)
{
    uint64_t at_ns = world->now_ns;
    uint32_t index;

    reply->kind = ITEM_REPLY;
    reply->endpoint = access->from;
    reply->from = access->endpoint;
    reply->reply.tag = access->access.tag;
    reply->reply.into = access->access.into;
    if (access->from != access->endpoint)
        at_ns += world->latency_ns + sg_network_gap_ns(&world->network, bytes);
    else if (atomic(access))
        at_ns += world->loopback_ns;
    index = sg_item_alloc(world, reply);
    if (index != NONE)
        sg_world_push(world, at_ns, EVENT_READY, index);
}

void sg_access_effect(struct world *world, const struct item *item)
{
    uint64_t *cells = world->cells + (size_t)item->endpoint * world->needs.cells;
    uint32_t remote = item->access.remote;
    struct item reply = {0};

    note(world, world->now_ns);
    note(world, (uint64_t)item->id << 32 | (uint32_t)item->endpoint);
    switch (item->id) {
    case SG_ACTION_WRITE:
    case SG_ACTION_WRITE_RESULT:
        sg_values_access(world, item, NULL);
        break;
    case SG_ACTION_WRITE_CELL:
        cells[remote] = item->access.value;
        fire_watches(world, item->endpoint, remote);
        break;
    case SG_ACTION_FETCH_ADD:
        reply.reply.value[0] = cells[remote];
        cells[remote] += item->access.value;
        answer(world, item, &reply, 0);
        fire_watches(world, item->endpoint, remote);
        break;
    case SG_ACTION_READ_CELLS:
        for (uint32_t i = 0; i < item->access.count && i < 8; i++)
            reply.reply.value[i] = cells[remote + i];
        answer(world, item, &reply, item->access.count * 8);
        break;
    case SG_ACTION_READ:
        sg_values_access(world, item, &reply.parts);
        answer(world, item, &reply, item->access.bytes);
        break;
    default:
        sg_world_fail(world, SG_ERR_ARGUMENT, "sim: a protocol asks for an unknown action");
    }
}
