#include "sim/timed/actions.h"

#include "sim/timed/chunks.h"
#include "sim/timed/node_level.h"

/* The message's turn at the adapter, which its bytes then occupy. */
static uint64_t depart(struct world *world, int32_t number, uint64_t time_ns, uint64_t bytes)
{
    struct endpoint *adapter = sg_world_adapter(world, number);
    uint64_t departure_ns = later(adapter->send_ns, time_ns);

    adapter->send_ns = departure_ns + sg_network_gap_ns(&world->network, bytes);
    return departure_ns;
}

/* ---- messages */

/* The network's share of the multicast's latency, which includes both overheads. */
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

/* The endpoint's own memory: effects take place in the order issued, and after an atomic access
 * that is under way. */
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
    /* Already true: noticed at the next poll. */
    item = sg_world_notice(endpoint, id);
    sg_item_push(world, later(world->now_ns, world->endpoints[endpoint->rank].busy_ns), EVENT_READY,
                 &item);
}

/* ---- the rest */

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

/* Not before now; a timer that is set to its previous time already has its event. */
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

/* The endpoint takes its next post once this one's program knows. */
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

uint64_t sg_world_carry_out(struct world *world, uint64_t start_ns)
{
    world->cursor_ns = start_ns;
    sg_world_check(world, sg_host_carry_out(&world->host, &world->fed));
    return world->cursor_ns;
}
