/* The mini host's events and checks (mini_host.h). */
#include "algos/mini_state.h"
#include "core/hash.h"
#include "lib/unit.h"

#define GUARD_BYTES 64
#define GUARD 0x5a

static void *get(size_t size_bytes)
{
    void *memory = calloc(1, size_bytes);

    ASSERT(memory != NULL);
    return memory;
}

uint32_t mini_random(struct mini_host *host, uint32_t limit)
{
    host->random += UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)((sg_hash_mix(host->random) >> 32) * limit >> 32);
}

static unsigned char *state_memory(const struct mini_host *host)
{
    size_t size_bytes = (host->needs.state_bytes + 63) / 64 * 64 + 2 * GUARD_BYTES;
    unsigned char *memory = aligned_alloc(64, size_bytes);

    ASSERT(memory != NULL);
    memset(memory, GUARD, size_bytes);
    return memory;
}

static void *state(const struct mini_endpoint *endpoint)
{
    return endpoint->state[endpoint->at] + GUARD_BYTES;
}

struct mini_host *mini_new(const struct mini_setup *setup)
{
    struct mini_host *host = get(sizeof *host);
    struct sg_algo_setup own = {0, setup->size, setup->parameters};

    host->setup = *setup;
    host->random = setup->seed;
    host->time_ns = 1000;
    host->credits = setup->parameters.credits ? setup->parameters.credits : 8;
    ASSERT(setup->algo->needs(&own, &host->needs));
    host->choice = get((size_t)setup->size * sizeof(int));
    host->endpoints = get((size_t)setup->size * sizeof *host->endpoints);
    for (int rank = 0; rank < setup->size; rank++) {
        struct mini_endpoint *endpoint = &host->endpoints[rank];

        own.rank = rank;
        endpoint->slots = get((host->needs.slots + 1) * sizeof(mini_value));
        endpoint->cells = get((host->needs.cells + 1) * sizeof(uint64_t));
        endpoint->state[0] = state_memory(host);
        endpoint->state[1] = state_memory(host);
        memset(state(endpoint), 0, host->needs.state_bytes);
        setup->algo->init(state(endpoint), &own);
    }
    return host;
}

void mini_free(struct mini_host *host)
{
    for (int rank = 0; rank < host->setup.size; rank++) {
        struct mini_endpoint *endpoint = &host->endpoints[rank];

        free(endpoint->state[0]);
        free(endpoint->state[1]);
        free(endpoint->posts);
        free(endpoint->slots);
        free(endpoint->cells);
    }
    for (int i = 0; i < host->item_count; i++)
        free(host->items[i]);
    free(host->items);
    free(host->choice);
    free(host->endpoints);
    free(host);
}

/* ---- events ---- */

static void check_guards(const struct mini_host *host, const unsigned char *memory)
{
    const unsigned char *behind = memory + GUARD_BYTES + host->needs.state_bytes;

    bool whole = true;

    for (int i = 0; i < GUARD_BYTES; i++)
        whole = whole && memory[i] == GUARD && behind[i] == GUARD;
    ASSERT(whole);
}

/* The state at another address, and where it was left only what no one may use. */
static void move_state(const struct mini_host *host, struct mini_endpoint *endpoint)
{
    void *before = state(endpoint);

    endpoint->at = !endpoint->at;
    memcpy(state(endpoint), before, host->needs.state_bytes);
    memset(before, GUARD, host->needs.state_bytes);
}

void mini_feed(struct mini_host *host, int rank, mini_handler handle, struct sg_event *event,
               mini_value *parts)
{
    struct mini_endpoint *endpoint = &host->endpoints[rank];
    struct sg_action list[SG_ACTIONS_MAX];
    struct sg_data data[2 * SG_ACTIONS_MAX];
    struct sg_actions actions = {.list = list, .capacity = SG_ACTIONS_MAX, .parts = data};

    ASSERT(handle != NULL);
    event->time_ns = host->time_ns++;
    move_state(host, endpoint);
    handle(state(endpoint), event, &actions);
    check_guards(host, endpoint->state[endpoint->at]);
    mini_carry_out(host, rank, &actions, parts);
    ASSERT(!endpoint->in_call == !mini_head(host, rank)->in_call);
}

void mini_call(struct mini_host *host, int rank, const struct sg_algo_call *call)
{
    struct mini_endpoint *endpoint = &host->endpoints[rank];
    struct sg_event event = {.kind = SG_EVENT_CALL, .call = *call};
    uint32_t seq = endpoint->called + 1;

    if (host->setup.parameters.split)
        event.call.flags |= SG_CALL_SPLIT;
    ASSERT(!endpoint->in_call, seq < MINI_INSTANCES_MAX);
    endpoint->called = seq;
    endpoint->call = *call;
    endpoint->in_call = true;
    host->entered[seq]++;
    host->flags[seq] = call->flags;
    host->synchronises[seq] = sg_operation_synchronises(call->operation);
    for (int i = 0; i < MINI_ELEMENTS; i++) {
        endpoint->operand[i] = mini_operand(rank, seq, i);
        endpoint->results[mini_place(host, seq)][i] = MINI_POISON;
    }
    mini_feed(host, rank, host->setup.algo->on_call, &event, NULL);
}

void mini_calls(struct mini_host *host, const struct sg_algo_call *call, const char *ranks)
{
    for (char *at = (char *)ranks; *at != '\0';) {
        if (*at == '.')
            mini_settle(host);
        if (*at == '.' || *at == ' ')
            at++;
        else
            mini_call(host, (int)strtol(at, &at, 10), call);
    }
}

void mini_call_all(struct mini_host *host, const struct sg_algo_call *call)
{
    for (int rank = 0; rank < host->setup.size; rank++)
        mini_call(host, rank, call);
}

bool mini_same_pair(const struct mini_item *item, int from, int to)
{
    return (from < 0 || item->from == from) && (to < 0 || item->to == to);
}

int mini_in_flight(const struct mini_host *host, int from, int to)
{
    int count = 0;

    for (int i = 0; i < host->item_count; i++)
        count += host->items[i]->kind == MINI_MESSAGE && mini_same_pair(host->items[i], from, to);
    return count;
}

struct mini_item *mini_add(struct mini_host *host, enum mini_kind kind, int from, int to)
{
    struct mini_item *item = get(sizeof *item);

    if (host->item_count == host->item_room) {
        host->item_room = 2 * host->item_room + 64;
        host->items = realloc(host->items, (size_t)host->item_room * sizeof(struct mini_item *));
        ASSERT(host->items != NULL);
        host->choice =
            realloc(host->choice, (size_t)(host->item_room + host->setup.size) * sizeof(int));
        ASSERT(host->choice != NULL);
    }
    item->kind = kind;
    item->from = from;
    item->to = to;
    host->items[host->item_count++] = item;
    int under_way = mini_in_flight(host, from, to);
    if (under_way > host->most_in_flight)
        host->most_in_flight = under_way;
    return item;
}

struct mini_item *mini_take(struct mini_host *host, int at)
{
    struct mini_item *item = host->items[at];

    host->item_count--;
    memmove(&host->items[at], &host->items[at + 1],
            (size_t)(host->item_count - at) * sizeof(struct mini_item *));
    return item;
}

void mini_happen(struct mini_host *host, struct mini_item *item)
{
    struct sg_event event = {.kind = SG_EVENT_MESSAGE};

    if (item->kind == MINI_MESSAGE) {
        event.message.from = item->from;
        event.message.multicast = item->multicast;
        event.message.header = item->header;
        mini_feed(host, item->to, host->setup.algo->on_message, &event, item->parts);
    } else if (item->kind == MINI_ACCESS) {
        mini_access(host, item);
    } else {
        event.kind = SG_EVENT_REPLY;
        event.reply.tag = item->tag;
        memcpy(event.reply.value, item->answer, sizeof item->answer);
        mini_feed(host, item->to, host->setup.algo->on_reply, &event, NULL);
    }
    free(item);
}

static int oldest(const struct mini_host *host, int from, int to, bool multicast)
{
    for (int i = 0; i < host->item_count; i++) {
        const struct mini_item *item = host->items[i];

        if (item->kind == MINI_MESSAGE && mini_same_pair(item, from, to) &&
            (!multicast || item->multicast))
            return i;
    }
    return -1;
}

bool mini_deliver(struct mini_host *host, int from, int to)
{
    int at = oldest(host, from, to, false);

    if (at >= 0)
        mini_happen(host, mini_take(host, at));
    return at >= 0;
}

bool mini_lose(struct mini_host *host, int from, int to)
{
    int at = oldest(host, from, to, true);

    if (at >= 0)
        free(mini_take(host, at));
    return at >= 0;
}

bool mini_repeat(struct mini_host *host, int from, int to)
{
    int at = oldest(host, from, to, true);

    if (at >= 0) {
        struct mini_item *copy = mini_add(host, MINI_MESSAGE, 0, 0);

        *copy = *host->items[at];
    }
    return at >= 0;
}

void mini_hold(struct mini_host *host, int rank, bool held)
{
    host->endpoints[rank].held = held;
}

void mini_advance(struct mini_host *host, uint64_t time_ns)
{
    host->time_ns += time_ns;
}

void mini_timer_event(struct mini_host *host, int rank, uint32_t id)
{
    struct sg_event event = {.kind = SG_EVENT_TIMER, .timer = {.id = id}};

    mini_feed(host, rank, host->setup.algo->on_timer, &event, NULL);
}

void mini_watch_event(struct mini_host *host, int rank, uint32_t id, uint64_t value)
{
    struct sg_event event = {.kind = SG_EVENT_TIMER, .timer = {id, value}};

    mini_feed(host, rank, host->setup.algo->on_timer, &event, NULL);
}

bool mini_fire(struct mini_host *host, int rank, uint32_t id)
{
    const struct mini_timer *timer = &host->endpoints[rank].timers[id];

    if (!timer->set)
        return false;
    if (host->time_ns < timer->time_ns)
        host->time_ns = timer->time_ns;
    mini_set_timer(host, rank, id, false, 0);
    mini_timer_event(host, rank, id);
    return true;
}

void mini_drain_event(struct mini_host *host, int rank)
{
    struct sg_event event = {.kind = SG_EVENT_TIMER};

    mini_feed(host, rank, host->setup.algo->on_drain, &event, NULL);
}

/* ---- what came of it ---- */

bool mini_completed(const struct mini_host *host, int rank, uint32_t seq)
{
    return host->endpoints[rank].completed[seq];
}

bool mini_finished(const struct mini_host *host, int rank, uint32_t seq)
{
    return host->endpoints[rank].finished[seq];
}

uint64_t mini_result(const struct mini_host *host, int rank, uint32_t seq, int element)
{
    return host->endpoints[rank].outcome[seq][element];
}

const struct sg_algo_head *mini_head(const struct mini_host *host, int rank)
{
    return state(&host->endpoints[rank]);
}

uint64_t mini_marks(const struct mini_host *host, int rank)
{
    uint64_t marks = 0;

    for (int i = 0; i < host->setup.size; i++)
        marks |= rank < 0 || rank == i ? host->endpoints[i].marks : 0;
    return marks;
}

int mini_actions(const struct mini_host *host, int rank, enum sg_action_kind kind)
{
    int count = 0;

    for (int i = 0; i < host->setup.size; i++)
        count += rank < 0 || rank == i ? host->endpoints[i].actions[kind] : 0;
    return count;
}

int mini_slices(const struct mini_host *host, int rank, struct sg_slice *last)
{
    *last = host->endpoints[rank].slice;
    return host->endpoints[rank].slice_count;
}

int mini_most_in_flight(const struct mini_host *host)
{
    return host->most_in_flight;
}
