#include "sim/host/host.h"

#include <string.h>

void sg_host_feed(struct sg_host *host, void *state, sg_host_handler handle,
                  const struct sg_event *event)
{
    struct sg_actions *actions = &host->actions;

    actions->capacity = SG_ACTIONS_MAX;
    actions->count = actions->parts_count = 0;
    actions->marks = 0;
    handle(state, event, actions);
    for (uint64_t marks = actions->marks; marks != 0; marks &= marks - 1)
        host->marks[__builtin_ctzll(marks)]++;
}

/* ---- who may name whom */

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

    if (algo->peers == NULL) {
        memset(peers, 0xff, sizeof *peers);
        return;
    }
    for (; setup.rank < size; setup.rank++) {
        add_peers(peers, algo, &setup, call->operation, call->root);
        if (call->operation == SG_OPERATION_REDUCE && !(call->flags & SG_CALL_COMMUTATIVE))
            add_peers(peers, algo, &setup, call->operation, 0); /* whose tree forwards the result */
    }
    if (call->operation == SG_OPERATION_REDUCE && !(call->flags & SG_CALL_COMMUTATIVE)) {
        add_peer(peers, 0, call->root);
        add_peer(peers, call->root, 0);
    }
}

bool sg_host_may_name(const struct sg_host_endpoint *endpoint, int32_t to)
{
    return endpoint->peers == NULL ||
           (endpoint->peers->named[endpoint->rank][to / 64] >> to % 64 & 1);
}

/* ---- actions */

static const char *send(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                        const struct sg_action *action)
{
    const struct sg_header *header = &action->send.header;
    struct sg_value values[SG_PARTS_MAX];
    const char *wrong = NULL;

    if (action->send.parts_at + header->parts > host->actions.parts_count)
        return "sends parts that it has not listed";
    if (header->parts > endpoint->parts_most)
        return "sends more parts than it needs";
    if (endpoint->payload != NULL)
        wrong = sg_payload_gather(endpoint->payload, action, host->actions.parts, values);
    if (wrong != NULL)
        return wrong;
    if (action->kind == SG_ACTION_MULTICAST && !(host->algo->uses & SG_ALGO_MULTICAST))
        return "multicasts without saying that it does";
    if (action->kind == SG_ACTION_SEND &&
        (action->to < 0 || action->to >= endpoint->size || action->to == endpoint->rank))
        return "sends to itself or to an endpoint that there is not";
    host->scheduler->send(host, endpoint, action, endpoint->payload != NULL ? values : NULL);
    return NULL;
}

static const char *access_remote(struct sg_host *host, const struct sg_host_endpoint *endpoint,
                                 const struct sg_action *action)
{
    bool write = action->kind == SG_ACTION_WRITE || action->kind == SG_ACTION_WRITE_RESULT;
    bool follow = endpoint->payload != NULL;
    struct sg_host_access access = {
        .value = action->access.value,
        .bytes = action->access.bytes,
        .remote = action->access.remote,
        .count = action->access.count,
        .tag = action->access.tag,
        .into = action->access.into,
        .kind = action->kind,
    };
    struct sg_value value;
    const char *wrong = NULL;

    if (!(host->algo->uses & SG_ALGO_ONE_SIDED))
        return "accesses another endpoint without saying that it does";
    if (action->to < 0 || action->to >= endpoint->size)
        return "accesses an endpoint that there is not";
    if (write && follow)
        wrong =
            sg_payload_load(endpoint->payload, action->access.from, action->access.bytes, &value);
    else if (action->kind == SG_ACTION_READ && follow) /* holds nothing until the answer */
        wrong = sg_payload_store(endpoint->payload, action->access.into, NULL);
    if (wrong == NULL)
        host->scheduler->access(host, endpoint, action->to, &access,
                                write && follow ? &value : NULL);
    return wrong;
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
        endpoint->timer_ns[action->id] =
            host->scheduler->set_timer(host, endpoint, action->id, action->timer.time_ns);
        return NULL;
    case SG_ACTION_STOP_TIMER:
        endpoint->timer_ns[action->id] = SG_TIMER_UNSET;
        return NULL;
    case SG_ACTION_COMPLETE:
        host->scheduler->complete(host, endpoint);
        return NULL;
    case SG_ACTION_FINISH:
        host->scheduler->finish(host, endpoint, action->instance.seq);
        return NULL;
    case SG_ACTION_WATCH:
        return watch(host, endpoint, action);
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

/* ---- at the target of an access */

bool sg_host_is_answered(uint32_t kind)
{
    return kind == SG_ACTION_FETCH_ADD || kind == SG_ACTION_READ || kind == SG_ACTION_READ_CELLS;
}

static const char *access_cells(const struct sg_host_endpoint *target,
                                const struct sg_host_access *access, uint64_t cells[8])
{
    uint32_t count = access->kind == SG_ACTION_READ_CELLS ? access->count : 1;
    uint64_t *cell;

    if (count > 8 || access->remote > target->cells_count ||
        count > target->cells_count - access->remote)
        return "is asked for cells that it has not";
    cell = &target->cells[access->remote];
    memcpy(cells, cell, count * sizeof *cells);
    if (access->kind == SG_ACTION_FETCH_ADD)
        *cell += access->value;
    else if (access->kind == SG_ACTION_WRITE_CELL)
        *cell = access->value;
    return NULL;
}

const char *sg_host_access(const struct sg_host_endpoint *target,
                           const struct sg_host_access *access, struct sg_value *value,
                           uint64_t cells[8])
{
    struct sg_data result = {SG_DATA_RESULT, (uint16_t)access->remote};

    switch (access->kind) {
    case SG_ACTION_WRITE:
        return target->payload ? sg_payload_put(target->payload, access->remote, value) : NULL;
    case SG_ACTION_WRITE_RESULT:
        return target->payload ? sg_payload_store(target->payload, result, value) : NULL;
    case SG_ACTION_READ:
        return target->payload
                   ? sg_payload_get(target->payload, access->remote, access->bytes, value)
                   : NULL;
    default:
        return access_cells(target, access, cells);
    }
}
