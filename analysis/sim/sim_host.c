#include "sim/sim_host.h"

#include "core/hash.h"

#include <stdio.h>
#include <string.h>

static const char *sg_payload_carry_out(struct sg_payload *payload, const struct sg_action *action);
static const char *sg_payload_gather(const struct sg_payload *payload,
                                     const struct sg_action *action, const struct sg_data *parts,
                                     struct sg_value *values);
static const char *sg_payload_put(struct sg_payload *target, uint32_t remote,
                                  const struct sg_value *value);
static const char *sg_payload_get(const struct sg_payload *target, uint32_t remote, uint32_t bytes,
                                  struct sg_value *value);

#define ALIGN 64

/* ---- an endpoint's memory */

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

void *sg_host_reserve(struct sg_host_layout *layout, size_t bytes)
{
    void *piece = layout->memory ? layout->memory + layout->used : NULL;

    layout->used += aligned(bytes);
    return piece;
}

void sg_host_lay_out(struct sg_host_layout *layout, const struct sg_algo_needs *needs,
                     uint32_t credits, size_t guard, struct sg_host_endpoint *endpoint)
{
    unsigned char *state = sg_host_reserve(layout, aligned(needs->state_bytes) + 2 * guard);

    endpoint->state = state ? state + guard : NULL;
    endpoint->cells = sg_host_reserve(layout, needs->cells * sizeof *endpoint->cells);
    endpoint->cells_count = needs->cells;
    endpoint->parts_most = needs->parts;
    if (credits == 0)
        return;
    endpoint->payload->slots_count = needs->slots;
    endpoint->payload->slots = sg_host_reserve(layout, needs->slots * sizeof(struct sg_value));
    endpoint->payload->results_count = credits;
    endpoint->payload->results = sg_host_reserve(layout, credits * sizeof(struct sg_value));
}

void sg_host_init(const struct sg_host_endpoint *endpoint, const struct sg_algo *algo,
                  const struct sg_algo_parameters *parameters)
{
    const struct sg_algo_setup setup = {endpoint->rank, endpoint->size, *parameters};

    for (int id = 0; id < SG_TIMERS; id++)
        endpoint->timer_ns[id] = SG_TIMER_UNSET;
    algo->init(endpoint->state, &setup);
}

void sg_host_feed(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                  sg_host_handler handle, const struct sg_event *event)
{
    struct sg_actions *actions = &host->actions;

    actions->capacity = SG_ACTIONS_MAX;
    actions->count = actions->parts_count = 0;
    actions->marks = 0;
    actions->slice = NULL;
    actions->routine = 0;
    handle(endpoint->state, event, actions);
    for (uint64_t marks = actions->marks; marks != 0; marks &= marks - 1)
        host->marks[__builtin_ctzll(marks)]++;
}

/* ---- peers */

static void add_peer(struct sg_host_peers *peers, int32_t from, int32_t to)
{
    peers->named[from][to / 64] |= UINT64_C(1) << to % 64;
}

static void add_peers(struct sg_host_peers *peers, const struct sg_algo *algo,
                      const struct sg_algo_setup *setup, enum sg_operation operation, int32_t root)
{
    int32_t list[SG_HOST_PEERS_MAX];
    int count = algo->peers(setup, operation, root, list, SG_HOST_PEERS_MAX);

    for (int i = 0; i < count; i++)
        add_peer(peers, setup->rank, list[i]);
}

void sg_host_add_peers(struct sg_host_peers *peers, const struct sg_algo *algo, int32_t size,
                       const struct sg_algo_parameters *parameters, const struct sg_algo_call *call)
{
    struct sg_algo_setup setup = {0, size, *parameters};

    if (algo->peers == NULL || sg_algo_takes_posts(algo, parameters)) {
        memset(peers, 0xff, sizeof *peers);
        return;
    }
    for (; setup.rank < size; setup.rank++) {
        add_peers(peers, algo, &setup, call->operation, call->root);
        if (call->operation == SG_OPERATION_REDUCE && !(call->flags & SG_CALL_COMMUTATIVE))
            /* that root's tree forwards the result */
            add_peers(peers, algo, &setup, call->operation, 0);
    }
    if (call->operation == SG_OPERATION_REDUCE && !(call->flags & SG_CALL_COMMUTATIVE)) {
        add_peer(peers, 0, call->root);
        add_peer(peers, call->root, 0);
    }
}

static const char *check_peer(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                              int32_t to)
{
    if (endpoint->peers == NULL || (endpoint->peers->named[endpoint->rank][to / 64] >> to % 64 & 1))
        return NULL;
    snprintf(host->wrong, sizeof host->wrong, "names %d, which is none of its peers", (int)to);
    return host->wrong;
}

/* ---- actions */

static const char *send(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                        const struct sg_action *action)
{
    bool multicast = action->kind == SG_ACTION_MULTICAST;
    struct sg_value values[SG_PARTS_MAX];
    struct sg_flight flight;
    const char *wrong = NULL;

    if (action->send.parts_at + action->send.header.parts > host->actions.parts_count)
        return "sends parts that it has not listed";
    if (action->send.header.parts > endpoint->parts_most)
        return "sends more parts than it needs";
    if (endpoint->payload != NULL)
        wrong = sg_payload_gather(endpoint->payload, action, host->actions.parts, values);
    if (wrong != NULL)
        return wrong;
    if (multicast && !(host->algo->uses & SG_ALGO_MULTICAST))
        return "multicasts without saying that it does";
    if (!multicast &&
        (action->to < 0 || action->to >= endpoint->size || action->to == endpoint->rank))
        return "sends to itself or to an endpoint that there is not";
    if (!multicast)
        wrong = check_peer(host, endpoint, action->to);
    if (wrong != NULL)
        return wrong;
    memset(&flight, 0, sizeof flight);
    flight.from = endpoint->rank;
    flight.to = action->to;
    flight.kind = SG_FLIGHT_MESSAGE;
    flight.solicited = action->solicited;
    flight.multicast = multicast;
    flight.header = action->send.header;
    host->scheduler->launch(host, endpoint, &flight, endpoint->payload != NULL ? values : NULL);
    return NULL;
}

static const char *access_remote(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                                 const struct sg_action *action)
{
    bool write = action->kind == SG_ACTION_WRITE || action->kind == SG_ACTION_WRITE_RESULT;
    bool follow = endpoint->payload != NULL;
    struct sg_flight flight;
    struct sg_value value;
    const char *wrong = NULL;

    if (!(host->algo->uses & (SG_ALGO_ONE_SIDED | SG_ALGO_POSTS)))
        return "accesses another endpoint without saying that it does";
    if (action->to < 0 || action->to >= endpoint->size)
        return "accesses an endpoint that there is not";
    if (write && follow)
        wrong =
            sg_payload_load(endpoint->payload, action->access.from, action->access.bytes, &value);
    else if (action->kind == SG_ACTION_READ && follow) /* empty until the reply arrives */
        wrong = sg_payload_store(endpoint->payload, action->access.into, NULL);
    if (wrong == NULL)
        wrong = check_peer(host, endpoint, action->to);
    if (wrong != NULL)
        return wrong;
    memset(&flight, 0, sizeof flight);
    flight.from = endpoint->rank;
    flight.to = action->to;
    flight.kind = SG_FLIGHT_ACCESS;
    flight.solicited = action->solicited;
    flight.asked = action->kind;
    flight.tag = action->access.tag;
    flight.into = action->access.into;
    flight.access.value = action->access.value;
    flight.access.bytes = action->access.bytes;
    flight.access.remote = action->access.remote;
    flight.access.count = action->access.count;
    host->scheduler->launch(host, endpoint, &flight, write && follow ? &value : NULL);
    return NULL;
}

/* Launches an access to a post's buffer at this endpoint, on behalf of a FILL or DRAIN. */
static const char *access_post(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                               const struct sg_action *action)
{
    struct sg_flight flight;

    if (host->scheduler->deliver == NULL || !(host->algo->uses & SG_ALGO_POSTS))
        return "fills or drains slots for posts, and takes none";
    if (action->post.slot.kind != SG_DATA_SLOT || action->post.bytes == 0)
        return "fills or drains what is no slot, or nothing";
    memset(&flight, 0, sizeof flight);
    flight.from = flight.to = endpoint->rank;
    flight.kind = SG_FLIGHT_ACCESS;
    flight.solicited = action->solicited;
    flight.asked = action->kind;
    flight.tag = action->post.tag;
    flight.access.value = action->post.handle;
    flight.access.bytes = action->post.bytes;
    flight.access.remote = action->post.slot.index;
    flight.access.count = action->post.offset;
    host->scheduler->launch(host, endpoint, &flight, NULL);
    return NULL;
}

static const char *watch(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                         const struct sg_action *action)
{
    if (action->access.remote >= endpoint->cells_count)
        return "watches a cell that it has not";
    if (action->id >= SG_WATCHES)
        return "has more watches than there are";
    endpoint->watches[action->id] = (struct sg_host_watch){
        .value = action->access.value,
        .cell = action->access.remote,
        .set = true,
        .solicited = action->solicited,
    };
    if (host->scheduler->watch != NULL)
        host->scheduler->watch(host, endpoint, action->id);
    return NULL;
}

static const char *combine(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                           const struct sg_action *action)
{
    const char *wrong = NULL;

    if (endpoint->payload != NULL)
        wrong = sg_payload_carry_out(endpoint->payload, action);
    return wrong != NULL ? wrong : host->scheduler->combine(host, endpoint, action);
}

static void set_timer(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                      const struct sg_action *action)
{
    uint64_t at_ns = action->timer.time_ns;

    if (host->scheduler->set_timer != NULL)
        at_ns = host->scheduler->set_timer(host, endpoint, action->id, at_ns);
    endpoint->timer_ns[action->id] = at_ns;
}

static const char *carry_out_one(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                                 const struct sg_action *action)
{
    if (action->id >= SG_TIMERS && action->kind != SG_ACTION_WATCH)
        return "sets a timer that there is not";
    switch (action->kind) {
    case SG_ACTION_SEND:
    case SG_ACTION_MULTICAST:
        return send(host, endpoint, action);
    case SG_ACTION_COPY:
    case SG_ACTION_REDUCE:
        return combine(host, endpoint, action);
    case SG_ACTION_SET_TIMER:
        set_timer(host, endpoint, action);
        return NULL;
    case SG_ACTION_STOP_TIMER:
        endpoint->timer_ns[action->id] = SG_TIMER_UNSET;
        return NULL;
    case SG_ACTION_COMPLETE:
        host->scheduler->complete(host, endpoint);
        return NULL;
    case SG_ACTION_FINISH:
        host->scheduler->finish(host, endpoint, (uint32_t)(action->instance.seq - host->first));
        return NULL;
    case SG_ACTION_BEGIN_SLICE:
    case SG_ACTION_AWAIT:
        return NULL;
    case SG_ACTION_END_SLICE:
        if (host->scheduler->end_slice != NULL)
            host->scheduler->end_slice(host, endpoint, host->actions.slice);
        return NULL;
    case SG_ACTION_WATCH:
        return watch(host, endpoint, action);
    case SG_ACTION_FILL:
    case SG_ACTION_DRAIN:
        return access_post(host, endpoint, action);
    case SG_ACTION_DELIVER:
        if (host->scheduler->deliver == NULL)
            return "delivers posts, and takes none";
        return host->scheduler->deliver(host, endpoint, action);
    case SG_ACTION_WRITE:
    case SG_ACTION_WRITE_RESULT:
    case SG_ACTION_WRITE_CELL:
    case SG_ACTION_FETCH_ADD:
    case SG_ACTION_READ:
    case SG_ACTION_READ_CELLS:
        return access_remote(host, endpoint, action);
    default:
        return "asks for an action that there is not";
    }
}

const char *sg_host_carry_out(struct sg_host *host, const struct sg_host_endpoint *endpoint)
{
    const char *wrong = NULL;

    for (uint32_t i = 0; i < host->actions.count && wrong == NULL; i++) {
        const struct sg_action *action = &host->actions.list[i];

        if (!host->scheduler->begin(host, endpoint, action))
            return NULL;
        wrong = carry_out_one(host, endpoint, action);
    }
    return wrong;
}

/* ---- on arrival */

/* cells: values returned by FETCH_ADD and READ_CELLS. */
static const char *access_cells(const struct sg_host_endpoint *target,
                                const struct sg_flight *flight, uint64_t cells[8])
{
    uint32_t count = flight->asked == SG_ACTION_READ_CELLS ? flight->access.count : 1;
    uint32_t remote = flight->access.remote;
    uint64_t *cell;

    if (count > 8 || remote > target->cells_count || count > target->cells_count - remote)
        return "is asked for cells that it has not";
    cell = &target->cells[remote];
    memcpy(cells, cell, count * sizeof *cells);
    if (flight->asked == SG_ACTION_FETCH_ADD)
        *cell += flight->access.value;
    else if (flight->asked == SG_ACTION_WRITE_CELL)
        *cell = flight->access.value;
    return NULL;
}

static const char *take_post(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                             const struct sg_flight *flight)
{
    const struct sg_host_bytes bytes = {(uint32_t)flight->access.value, flight->access.count,
                                        flight->access.bytes};
    struct sg_value value = {0};
    const char *wrong;

    if (endpoint->payload == NULL)
        return NULL;
    if (flight->asked == SG_ACTION_FILL) {
        wrong = host->scheduler->fill(host, endpoint, &bytes, &value);
        return wrong != NULL ? wrong
                             : sg_payload_put(endpoint->payload, flight->access.remote, &value);
    }
    if (flight->access.remote >= endpoint->payload->slots_count)
        return "drains a slot that it has not";
    value = endpoint->payload->slots[flight->access.remote];
    if (value.count == 0 || value.bytes < bytes.bytes)
        return "drains more than its slot holds";
    /* cppcheck-suppress returnDanglingLifetime ; it returns a literal */
    return host->scheduler->drain(host, endpoint, &bytes, &value);
}

static const char *take_effect(struct sg_host *host, const struct sg_host_endpoint *target,
                               const struct sg_flight *flight, struct sg_value *value,
                               uint64_t cells[8])
{
    struct sg_data result = {SG_DATA_RESULT, (uint16_t)flight->access.remote};

    switch (flight->asked) {
    case SG_ACTION_WRITE:
        return target->payload ? sg_payload_put(target->payload, flight->access.remote, value)
                               : NULL;
    case SG_ACTION_WRITE_RESULT:
        return target->payload ? sg_payload_store(target->payload, result, value) : NULL;
    case SG_ACTION_READ:
        return target->payload ? sg_payload_get(target->payload, flight->access.remote,
                                                flight->access.bytes, value)
                               : NULL;
    case SG_ACTION_FILL:
    case SG_ACTION_DRAIN:
        return take_post(host, target, flight);
    default:
        return access_cells(target, flight, cells);
    }
}

static bool has_reply(uint8_t asked)
{
    return asked == SG_ACTION_FETCH_ADD || asked == SG_ACTION_READ ||
           asked == SG_ACTION_READ_CELLS || asked == SG_ACTION_FILL || asked == SG_ACTION_DRAIN;
}

const char *sg_host_access(struct sg_host *host, const struct sg_host_endpoint *target,
                           struct sg_flight *flight, struct sg_value *value)
{
    uint64_t cells[8] = {0};
    const char *wrong = take_effect(host, target, flight, value, cells);
    int32_t initiator = flight->from;

    if (wrong != NULL || !has_reply(flight->asked))
        return wrong;
    flight->kind = SG_FLIGHT_REPLY;
    flight->from = flight->to;
    flight->to = initiator;
    memcpy(flight->cells, cells, sizeof cells);
    return NULL;
}

struct sg_event sg_host_event(const struct sg_flight *flight)
{
    struct sg_event event = {.kind = SG_EVENT_MESSAGE};

    if (flight->kind == SG_FLIGHT_REPLY) {
        event.kind = SG_EVENT_REPLY;
        event.reply.tag = flight->tag;
        memcpy(event.reply.value, flight->cells, sizeof event.reply.value);
    } else {
        event.message = (struct sg_message){flight->from, flight->multicast, flight->header};
    }
    return event;
}

/* ---- payloads */

struct sg_value sg_value_contribution(uint32_t instance, int32_t rank, uint32_t bytes,
                                      uint32_t flags)
{
    uint64_t name = (uint64_t)instance << 32 | (uint32_t)rank;

    return (struct sg_value){
        .hash = sg_hash_mix(name + 1),
        .ranks = rank < SG_VALUE_RANKS ? UINT64_C(1) << rank : 0,
        .count = 1,
        .instance = instance,
        .bytes = bytes,
        .flags = flags,
    };
}

static uint64_t combine_hashes(uint64_t left, uint64_t right, uint32_t flags)
{
    if (flags & SG_CALL_EXACT)
        return left + right;
    if ((flags & SG_CALL_COMMUTATIVE) && left > right) {
        uint64_t other = left;

        left = right;
        right = other;
    }
    return sg_hash_mix(sg_hash_mix(left) + 3 * right + 1);
}

/* True if some rank of `left` is greater than some rank of `right`. */
static bool out_of_order(uint64_t left, uint64_t right)
{
    return left != 0 && right != 0 && 63 - __builtin_clzll(left) > __builtin_ctzll(right);
}

const char *sg_value_combine(const struct sg_value *left, const struct sg_value *right,
                             struct sg_value *into)
{
    struct sg_value value = *left;

    if (left->count == 0 || right->count == 0)
        return "combines a buffer that holds nothing";
    if (left->instance != right->instance)
        return "combines values of two instances";
    if (left->bytes != right->bytes)
        return "combines values of two sizes";
    if (left->ranks & right->ranks)
        return "combines a contribution twice";
    if (!(left->flags & (SG_CALL_COMMUTATIVE | SG_CALL_EXACT)) &&
        out_of_order(left->ranks, right->ranks))
        return "combines operands out of order";
    value.hash = combine_hashes(left->hash, right->hash, left->flags);
    value.ranks |= right->ranks;
    value.count += right->count;
    *into = value;
    return NULL;
}

/* Finds the buffer that `data` names; if there is none, *wrong says why. */
static const struct sg_value *find(const struct sg_payload *payload, struct sg_data data,
                                   const char **wrong)
{
    switch (data.kind) {
    case SG_DATA_OPERAND:
        *wrong = payload->operand ? NULL : "names the operand outside a call with data";
        return payload->operand;
    case SG_DATA_RESULT:
        *wrong = data.index < payload->results_count ? NULL : "names a result beyond the credits";
        return *wrong ? NULL : &payload->results[data.index];
    case SG_DATA_SLOT:
        *wrong = data.index < payload->slots_count ? NULL : "names a slot that it has not";
        return *wrong ? NULL : &payload->slots[data.index];
    case SG_DATA_PART:
        *wrong = data.index < payload->parts_count ? NULL : "names a part that no message has";
        return *wrong ? NULL : &payload->parts[data.index];
    default:
        *wrong = "names data of no kind";
        return NULL;
    }
}

static const char *take(const struct sg_value *buffer, uint32_t bytes, struct sg_value *value)
{
    if (buffer->count == 0)
        return "reads a buffer that holds nothing";
    if (buffer->bytes != bytes)
        return "reads a value in a size not its own";
    *value = *buffer;
    return NULL;
}

const char *sg_payload_load(const struct sg_payload *payload, struct sg_data from, uint32_t bytes,
                            struct sg_value *value)
{
    const char *wrong;
    const struct sg_value *buffer = find(payload, from, &wrong);

    return buffer ? take(buffer, bytes, value) : wrong;
}

const char *sg_payload_store(struct sg_payload *payload, struct sg_data into,
                             const struct sg_value *value)
{
    const char *wrong;
    const struct sg_value *buffer = find(payload, into, &wrong);
    struct sg_value *target;

    if (buffer == NULL)
        return wrong;
    if (into.kind == SG_DATA_SLOT)
        target = &payload->slots[into.index];
    else if (into.kind == SG_DATA_RESULT)
        target = &payload->results[into.index];
    else
        return "writes to an operand or a message";
    *target = value ? *value : (struct sg_value){0};
    return NULL;
}

/* Carries out a COPY or REDUCE. */
static const char *sg_payload_carry_out(struct sg_payload *payload, const struct sg_action *action)
{
    bool reduce = action->kind == SG_ACTION_REDUCE;
    uint32_t bytes = action->data.bytes;
    struct sg_value value = {0}, right = {0};
    const char *wrong;

    wrong = sg_payload_load(payload, reduce ? action->data.left : action->data.from, bytes, &value);
    if (wrong == NULL && reduce)
        wrong = sg_payload_load(payload, action->data.right, bytes, &right);
    if (wrong == NULL && reduce)
        wrong = sg_value_combine(&value, &right, &value);
    if (wrong == NULL)
        wrong = sg_payload_store(payload, action->data.into, &value);
    return wrong;
}

/* Loads the parts of a SEND or MULTICAST, at most SG_PARTS_MAX, into values. `parts`: the parts of
 * sg_actions. */
static const char *sg_payload_gather(const struct sg_payload *payload,
                                     const struct sg_action *action, const struct sg_data *parts,
                                     struct sg_value *values)
{
    const struct sg_header *header = &action->send.header;

    if (header->parts > SG_PARTS_MAX)
        return "sends too many parts";
    for (uint32_t i = 0; i < header->parts; i++) {
        const char *wrong =
            sg_payload_load(payload, parts[action->send.parts_at + i], header->bytes, &values[i]);

        if (wrong)
            return wrong;
    }
    return NULL;
}

/* The target's side of WRITE and READ: slot `remote`. A READ may be issued before the slot is known
 * to hold anything; the protocol must not use the empty value that it then gets. */
static const char *sg_payload_put(struct sg_payload *target, uint32_t remote,
                                  const struct sg_value *value)
{
    if (remote >= target->slots_count)
        return "writes to a slot that the target has not";
    target->slots[remote] = *value;
    return NULL;
}

static const char *sg_payload_get(const struct sg_payload *target, uint32_t remote, uint32_t bytes,
                                  struct sg_value *value)
{
    if (remote >= target->slots_count)
        return "reads a slot that the target has not";
    *value = target->slots[remote];
    if (value->bytes != bytes)
        *value = (struct sg_value){0};
    return NULL;
}
