/* The test host for protocols on a transport (host.h): its lock, events, timers and actions. */
#include "transport/host.h"

#include "algos/mini_host.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPLIES_MAX 1024
#define CREDITS_MAX 64
#define WORDS (HOST_BYTES_MAX / 8)

typedef uint64_t value_words[WORDS];

struct endpoint {
    pthread_mutex_t lock;
    void *state;
    struct sg_transport_region region;
    value_words operand, results[CREDITS_MAX], outcome[HOST_CALLS_MAX + 1];
    struct sg_event replies[REPLIES_MAX];
    uint32_t reply_first, reply_count;
    uint64_t timer_ns[SG_TIMERS]; /* 0: not set */
    struct {
        bool set;
        uint32_t cell;
        uint64_t value;
    } watch[SG_WATCHES];
    uint64_t random;
    uint32_t called, errors, answered_later;
    bool in_call, drained, idle;
    uint8_t finished[HOST_CALLS_MAX + 1];
};

struct host {
    struct host_setup setup;
    struct sg_transport *transport;
    void *shared;
    uint32_t credits;
    _Atomic uint32_t entered[HOST_CALLS_MAX + 1]; /* endpoints that made their n-th call */
    _Atomic int idle;
    struct endpoint endpoints[HOST_SIZE];
};

static void *get(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 64) / 64 * 64);

    if (memory == NULL)
        abort();
    return memset(memory, 0, (bytes + 64) / 64 * 64);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct host *host_new(const struct host_setup *setup)
{
    const struct sg_transport_setup wanted = {
        .endpoints = HOST_SIZE, .inflight = 64, .staged = 256, .eager_bytes = 16 * HOST_BYTES_MAX};
    struct host *host = get(sizeof *host);
    struct sg_algo_setup own = {0, HOST_SIZE, setup->parameters};
    struct sg_algo_needs needs;

    host->setup = *setup;
    host->credits = setup->parameters.credits > 0 ? setup->parameters.credits : 8;
    host->shared = get(setup->ops->shared_bytes(&wanted));
    if (setup->ops->open(&wanted, host->shared, &host->transport) != SG_OK ||
        !setup->algo->needs(&own, &needs))
        abort();
    for (int rank = 0; rank < HOST_SIZE; rank++) {
        struct endpoint *endpoint = &host->endpoints[rank];

        own.rank = rank;
        pthread_mutex_init(&endpoint->lock, NULL);
        endpoint->random = setup->seed * 1000003 + (uint64_t)rank;
        endpoint->region =
            (struct sg_transport_region){.slots = get((size_t)needs.slots * HOST_BYTES_MAX),
                                         .cells = get((size_t)needs.cells * sizeof(uint64_t)),
                                         .slot_bytes = HOST_BYTES_MAX,
                                         .slots_count = needs.slots,
                                         .cells_count = needs.cells};
        endpoint->state = get(needs.state_bytes);
        setup->algo->init(endpoint->state, &own);
    }
    return host;
}

void host_free(struct host *host)
{
    for (int rank = 0; rank < HOST_SIZE; rank++) {
        pthread_mutex_destroy(&host->endpoints[rank].lock);
        free(host->endpoints[rank].region.slots);
        free(host->endpoints[rank].region.cells);
        free(host->endpoints[rank].state);
    }
    host->setup.ops->close(host->transport);
    free(host->shared);
    free(host);
}

/* ---- actions --------------------------------------------------------------------------------- */

/* Context in which one handler's actions are carried out. */
struct turn {
    struct host *host;
    int rank;
    struct endpoint *endpoint;
    const struct sg_actions *actions;
    const struct sg_transport_message *message; /* the one handled, or NULL */
};

static void *resolve(const struct turn *turn, struct sg_data data)
{
    struct endpoint *endpoint = turn->endpoint;

    switch (data.kind) {
    case SG_DATA_OPERAND:
        return endpoint->operand;
    case SG_DATA_RESULT:
        return endpoint->results[data.index];
    case SG_DATA_SLOT:
        return (char *)endpoint->region.slots + (size_t)data.index * HOST_BYTES_MAX;
    case SG_DATA_PART:
        if (turn->message == NULL)
            abort();
        return (char *)turn->message->parts +
               (size_t)data.index * ((turn->message->message.header.bytes + 15u) / 16 * 16);
    default:
        return NULL;
    }
}

static void send_out(const struct turn *turn, const struct sg_action *action)
{
    const void *parts[SG_PARTS_MAX];
    struct sg_transport_send send = {
        .solicited = action->solicited, .header = action->send.header, .parts = parts};
    int to = action->kind == SG_ACTION_MULTICAST ? SG_TRANSPORT_ALL : action->to;

    for (uint32_t i = 0; i < action->send.header.parts; i++)
        parts[i] = resolve(turn, turn->actions->parts[action->send.parts_at + i]);
    turn->endpoint->errors += turn->host->setup.ops->send(turn->host->transport, turn->rank, to,
                                                          &send) != SG_TRANSPORT_DONE;
}

static void reduce(const struct turn *turn, const struct sg_action *action)
{
    const uint64_t *left = resolve(turn, action->data.left);
    const uint64_t *right = resolve(turn, action->data.right);
    uint64_t *into = resolve(turn, action->data.into);
    uint32_t flags = turn->host->setup.calls[action->data.seq - 1].flags;

    for (uint32_t i = 0; i < action->data.bytes / 8; i++)
        into[i] = mini_fold(flags, left[i], right[i]);
}

static void leave(const struct turn *turn, uint32_t seq)
{
    struct endpoint *endpoint = turn->endpoint;
    const struct sg_algo_call *call = &turn->host->setup.calls[seq - 1];

    endpoint->errors += !endpoint->in_call;
    endpoint->errors +=
        sg_operation_synchronises(call->operation) &&
        atomic_load_explicit(&turn->host->entered[seq], memory_order_relaxed) != HOST_SIZE;
    endpoint->in_call = false;
    memcpy(endpoint->outcome[seq], endpoint->results[seq % turn->host->credits],
           sizeof endpoint->outcome[seq]);
}

static void access_out(const struct turn *turn, const struct sg_action *action)
{
    struct endpoint *endpoint = turn->endpoint;
    struct sg_event reply = {.kind = SG_EVENT_REPLY, .reply.tag = action->access.tag};
    struct sg_data data =
        action->kind == SG_ACTION_READ ? action->access.into : action->access.from;

    struct sg_transport_region region = turn->host->endpoints[action->to].region;
    struct sg_action wanted = *action;
    enum sg_transport_result result;

    /* Results lie behind each other, as slots do. */
    if (action->kind == SG_ACTION_WRITE_RESULT) {
        wanted.kind = SG_ACTION_WRITE;
        region.slots = turn->host->endpoints[action->to].results;
        region.slots_count = turn->host->credits;
    }
    do
        result = turn->host->setup.ops->access(turn->host->transport, turn->rank, &wanted, &region,
                                               resolve(turn, data), reply.reply.value);
    while (result == SG_TRANSPORT_FULL);
    if (result == SG_TRANSPORT_LATER || wanted.kind == SG_ACTION_WRITE ||
        wanted.kind == SG_ACTION_WRITE_CELL)
        return;
    if (endpoint->reply_count == REPLIES_MAX)
        abort();
    endpoint->replies[(endpoint->reply_first + endpoint->reply_count++) % REPLIES_MAX] = reply;
}

static void carry_out(const struct turn *turn, const struct sg_action *action)
{
    struct endpoint *endpoint = turn->endpoint;

    switch ((enum sg_action_kind)action->kind) {
    case SG_ACTION_SEND:
    case SG_ACTION_MULTICAST:
        send_out(turn, action);
        break;
    case SG_ACTION_COPY:
        memmove(resolve(turn, action->data.into), resolve(turn, action->data.from),
                action->data.bytes);
        break;
    case SG_ACTION_REDUCE:
        reduce(turn, action);
        break;
    case SG_ACTION_SET_TIMER:
        endpoint->timer_ns[action->id] = action->timer.time_ns;
        break;
    case SG_ACTION_STOP_TIMER:
        endpoint->timer_ns[action->id] = 0;
        break;
    case SG_ACTION_COMPLETE:
        leave(turn, endpoint->called);
        break;
    case SG_ACTION_FINISH:
        endpoint->finished[action->instance.seq]++;
        break;
    case SG_ACTION_BEGIN_SLICE:
    case SG_ACTION_END_SLICE:
    case SG_ACTION_AWAIT: /* no transport between machines */
        break;
    case SG_ACTION_WATCH:
        endpoint->watch[action->id].set = true;
        endpoint->watch[action->id].cell = action->access.remote;
        endpoint->watch[action->id].value = action->access.value;
        break;
    default:
        access_out(turn, action);
        break;
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

typedef void (*handler)(void *state, const struct sg_event *event, struct sg_actions *actions);

static void feed(struct host *host, int rank, handler handle, struct sg_event *event,
                 const struct sg_transport_message *message)
{
    struct sg_action list[SG_ACTIONS_MAX];
    struct sg_data data[2 * SG_ACTIONS_MAX];
    struct sg_actions actions = {.list = list, .capacity = SG_ACTIONS_MAX, .parts = data};
    struct turn turn = {host, rank, &host->endpoints[rank], &actions, message};

    event->time_ns = now_ns();
    handle(turn.endpoint->state, event, &actions);
    for (uint32_t i = 0; i < actions.count; i++)
        carry_out(&turn, &list[i]);
}

static bool feed_timer(struct host *host, int rank)
{
    struct endpoint *endpoint = &host->endpoints[rank];
    struct sg_event event = {.kind = SG_EVENT_TIMER};
    uint64_t time_ns = now_ns();

    for (uint32_t id = 0; id < SG_TIMERS; id++) {
        if (endpoint->timer_ns[id] == 0 || endpoint->timer_ns[id] > time_ns)
            continue;
        endpoint->timer_ns[id] = 0;
        event.timer.id = id;
        feed(host, rank, host->setup.algo->on_timer, &event, NULL);
        return true;
    }
    for (uint32_t id = 0; id < SG_WATCHES; id++) {
        if (!endpoint->watch[id].set)
            continue;
        event.timer.value = atomic_load_explicit(&endpoint->region.cells[endpoint->watch[id].cell],
                                                 memory_order_acquire);
        if (event.timer.value == endpoint->watch[id].value)
            continue;
        endpoint->watch[id].set = false;
        event.timer.id = id;
        feed(host, rank, host->setup.algo->on_timer, &event, NULL);
        return true;
    }
    return false;
}

static bool feed_next(struct host *host, int rank)
{
    const struct sg_transport_ops *ops = host->setup.ops;
    struct endpoint *endpoint = &host->endpoints[rank];
    struct sg_transport_message message;
    struct sg_event event;

    if (endpoint->reply_count > 0) {
        event = endpoint->replies[endpoint->reply_first];
        endpoint->reply_first = (endpoint->reply_first + 1) % REPLIES_MAX;
        endpoint->reply_count--;
        feed(host, rank, host->setup.algo->on_reply, &event, NULL);
        return true;
    }
    message.is_reply = false;
    if (ops->receive(host->transport, rank, &message)) {
        if (message.is_reply) {
            event = (struct sg_event){.kind = SG_EVENT_REPLY, .reply.tag = message.tag};
            memcpy(event.reply.value, message.value, sizeof message.value);
            ops->release(host->transport, rank, &message);
            endpoint->answered_later++;
            feed(host, rank, host->setup.algo->on_reply, &event, NULL);
            return true;
        }
        event = (struct sg_event){.kind = SG_EVENT_MESSAGE, .message = message.message};
        feed(host, rank, host->setup.algo->on_message, &event, &message);
        ops->release(host->transport, rank, &message);
        return true;
    }
    return feed_timer(host, rank);
}

void host_progress(struct host *host, int rank)
{
    struct endpoint *endpoint = &host->endpoints[rank];

    if (pthread_mutex_trylock(&endpoint->lock) != 0)
        return;
    while (feed_next(host, rank))
        continue;
    pthread_mutex_unlock(&endpoint->lock);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void call_next(struct host *host, int rank)
{
    struct endpoint *endpoint = &host->endpoints[rank];
    const struct sg_algo_call *call = &host->setup.calls[endpoint->called];
    struct sg_event event = {.kind = SG_EVENT_CALL, .call = *call};

    endpoint->called++;
    endpoint->in_call = true;
    for (int i = 0; i < WORDS; i++)
        endpoint->operand[i] = mini_operand(rank, endpoint->called, 0);
    atomic_fetch_add_explicit(&host->entered[endpoint->called], 1, memory_order_relaxed);
    feed(host, rank, host->setup.algo->on_call, &event, NULL);
}

static void drain(struct host *host, int rank)
{
    struct endpoint *endpoint = &host->endpoints[rank];
    struct sg_event event = {.kind = SG_EVENT_TIMER};

    if (!endpoint->drained) {
        endpoint->drained = true;
        feed(host, rank, host->setup.algo->on_drain, &event, NULL);
    } else if (!endpoint->idle && ((struct sg_algo_head *)endpoint->state)->outstanding == 0) {
        endpoint->idle = true;
        atomic_fetch_add(&host->idle, 1);
    }
}

bool host_step(struct host *host, int rank)
{
    struct endpoint *endpoint = &host->endpoints[rank];

    host_progress(host, rank);
    pthread_mutex_lock(&endpoint->lock);
    while (feed_next(host, rank))
        continue;
    endpoint->random =
        endpoint->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    if (!endpoint->in_call && endpoint->called == host->setup.count)
        drain(host, rank);
    else if (!endpoint->in_call && (endpoint->random >> 33) % 4 == 0)
        call_next(host, rank);
    pthread_mutex_unlock(&endpoint->lock);
    return atomic_load(&host->idle) < HOST_SIZE;
}

/* ---- what came of it ------------------------------------------------------------------------- */

uint32_t host_errors(const struct host *host)
{
    uint32_t errors = 0;

    for (int rank = 0; rank < HOST_SIZE; rank++) {
        errors += host->endpoints[rank].errors + host->endpoints[rank].in_call;
        for (uint32_t seq = 1; seq <= host->setup.count; seq++)
            errors += host->endpoints[rank].finished[seq] != 1;
    }
    return errors;
}

uint64_t host_answered_later(const struct host *host)
{
    uint64_t sum = 0;

    for (int rank = 0; rank < HOST_SIZE; rank++)
        sum += host->endpoints[rank].answered_later;
    return sum;
}

bool host_result(const struct host *host, int rank, uint32_t seq, uint64_t *value)
{
    const uint64_t *words = host->endpoints[rank].outcome[seq];

    for (uint32_t i = 0; i < host->setup.calls[seq - 1].bytes / 8; i++) {
        if (words[i] != words[0])
            return false;
    }
    *value = words[0];
    return true;
}
