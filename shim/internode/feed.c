#include "internode/feed.h"

#include "core/clock.h"
#include "internode/consistency.h"
#include "internode/decisions.h"
#include "internode/host.h"
#include "internode/posts.h"
#include "internode/slices.h"
#include "internode/statistics.h"

#include <string.h>

typedef void (*sg_handler)(void *state, const struct sg_event *event, struct sg_actions *actions);

static sg_handler handler_of(const struct sg_algo *algo, enum sg_event_kind kind)
{
    switch (kind) {
    case SG_EVENT_CALL:
    case SG_EVENT_POST:
        return algo->on_call;
    case SG_EVENT_MESSAGE:
        return algo->on_message;
    case SG_EVENT_TIMER:
        return algo->on_timer;
    case SG_EVENT_REPLY:
        return algo->on_reply;
    }
    return NULL;
}

/* What is under way for messages at the end is given up. */
static bool has_stopped(const struct sg_internode *internode, uint32_t protocol)
{
    return internode->messages != NULL && internode->messages->protocol == protocol &&
           sg_posts_of(internode)->has_stopped;
}

/* False: it only read cells again. */
static bool deliver_one(struct sg_internode *internode, uint32_t protocol, sg_handler handler,
                        const struct sg_event *event, const void *parts)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    struct sg_algo_head *head =
        (void *)sg_internode_region(internode, protocol, internode->endpoint);
    struct sg_algo_head before = *head;
    struct sg_actions actions = {
        .list = endpoint->actions, .capacity = SG_ACTIONS_MAX, .parts = endpoint->parts};
    struct sg_delivery delivery = {
        .internode = internode, .protocol = protocol, .event = event, .parts = parts};
    struct sg_late late;
    bool is_late;

    if (handler == NULL || has_stopped(internode, protocol))
        return false;
    sg_slices_begin_event(&delivery);
    handler(head, event, &actions);
    sg_decisions_record(internode, protocol, event,
                        handler == internode->protocols[protocol].algo->on_drain, &actions);
    is_late =
        head->late != before.late && sg_endpoint_begin_late(internode, protocol, event, &late);
    sg_internode_carry_out(&delivery, &actions);
    sg_slices_end_event(&delivery, &actions);
    if (is_late)
        sg_endpoint_end_late(internode, &late);
    sg_endpoint_count(endpoint, &before, head, actions.marks);
    for (uint32_t i = 0; i < actions.count; i++) {
        if (actions.list[i].kind != SG_ACTION_READ_CELLS)
            return true;
    }
    return false;
}

static bool deliver_reply(struct sg_internode *internode, const struct sg_endpoint_reply *reply,
                          uint64_t time_ns)
{
    struct sg_event event = {.kind = SG_EVENT_REPLY, .time_ns = time_ns, .reply.tag = reply->tag};

    memcpy(event.reply.value, reply->value, sizeof reply->value);
    return deliver_one(internode, reply->protocol,
                       internode->protocols[reply->protocol].algo->on_reply, &event, NULL);
}

static void deliver_replies(struct sg_internode *internode, uint64_t time_ns)
{
    struct sg_endpoint_reply reply;

    while (sg_endpoint_take_reply(sg_internode_endpoint(internode, internode->endpoint), false,
                                  &reply))
        deliver_reply(internode, &reply, time_ns);
}

/* The event, and the REPLYs to those of its accesses that were done at once. */
static void deliver_all(struct sg_internode *internode, uint32_t protocol, sg_handler handler,
                        struct sg_event *event, const void *parts)
{
    event->time_ns = sg_clock_ns();
    deliver_one(internode, protocol, handler, event, parts);
    deliver_replies(internode, event->time_ns);
}

/* ---- calls, messages and timers ---- */

static void deliver_call(struct sg_internode *internode, struct sg_internode_instance *place)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    const struct sg_algo_head *head =
        (const void *)sg_internode_region(internode, place->protocol, internode->endpoint);
    struct sg_event event = {.kind = SG_EVENT_CALL,
                             .call = {.operation = (enum sg_operation)place->operation,
                                      .flags = place->flags,
                                      .bytes = place->bytes,
                                      .root = place->root,
                                      .site = 0}};

    place->protocol_seq = head->seq + 1;
    if (place->bytes > 0 || internode->remote != NULL)
        *sg_internode_operand_type(internode, place->protocol, (uint32_t)place->protocol_seq) =
            (struct sg_operand_type){(uint32_t)place->protocol_seq, place->reduction,
                                     place->element, sg_consistency_note(internode, place)};
    if (place->flags & SG_CALL_SPLIT)
        atomic_fetch_add_explicit(&endpoint->doorbell.nonblocking, 1, memory_order_relaxed);
    atomic_store_explicit(&endpoint->delivered, place->position + 1, memory_order_relaxed);
    deliver_all(internode, place->protocol, internode->protocols[place->protocol].algo->on_call,
                &event, NULL);
}

void sg_endpoint_deliver_calls(struct sg_internode *internode)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);

    for (;;) {
        /* Relaxed, both: under the lock. */
        uint64_t delivered = atomic_load_explicit(&endpoint->delivered, memory_order_relaxed);
        struct sg_internode_instance *place = sg_internode_instance_at(internode, delivered);

        if (atomic_load_explicit(&endpoint->completed, memory_order_relaxed) != delivered ||
            place->ready != delivered + 1)
            return;
        deliver_call(internode, place);
    }
}

void sg_endpoint_deliver_event(struct sg_internode *internode, uint32_t protocol,
                               struct sg_event *event, const void *parts)
{
    deliver_all(internode, protocol, handler_of(internode->protocols[protocol].algo, event->kind),
                event, parts);
    sg_endpoint_deliver_calls(internode);
}

void sg_endpoint_deliver_drain(struct sg_internode *internode)
{
    struct sg_event event = {.kind = SG_EVENT_CALL};

    for (uint32_t i = 0; i < (uint32_t)internode->protocol_count; i++) {
        if (internode->protocols[i].algo != NULL)
            deliver_all(internode, i, internode->protocols[i].algo->on_drain, &event, NULL);
    }
}

/* ---- events without a message ---- */

void sg_endpoint_deliver_answer(struct sg_internode *internode,
                                const struct sg_transport_message *message)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    struct sg_endpoint_reply reply = {.protocol = (uint32_t)(message->protocol & 0xff),
                                      .tag = message->tag,
                                      .waits = (message->protocol & SG_INTERNODE_WAITS) != 0};

    memcpy(reply.value, message->value, sizeof reply.value);
    endpoint->replies[endpoint->reply_count++] = reply;
    if (reply.waits)
        return;
    deliver_replies(internode, sg_clock_ns());
    sg_endpoint_deliver_calls(internode);
}

/* The replies that are there now: repeated accesses wait for the next poll. */
int sg_endpoint_deliver_waiting(struct sg_internode *internode)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    struct sg_endpoint_reply reply;
    uint32_t waiting = 0;
    int delivered = 0;

    for (uint32_t i = 0; i < endpoint->reply_count; i++)
        waiting += endpoint->replies[i].waits;
    for (; waiting > 0 && sg_endpoint_take_reply(endpoint, true, &reply); waiting--) {
        delivered += deliver_reply(internode, &reply, sg_clock_ns());
        deliver_replies(internode, sg_clock_ns());
    }
    if (delivered > 0)
        sg_endpoint_deliver_calls(internode);
    return delivered;
}

static bool has_changed(const struct sg_internode *internode,
                        const struct sg_internode_watch *watch, uint64_t *value)
{
    const struct sg_internode_protocol *protocol = &internode->protocols[watch->protocol];
    const _Atomic uint64_t *cells =
        (const void *)(sg_internode_region(internode, watch->protocol, internode->endpoint) +
                       protocol->cells_at);

    /* Acquire: what was written before the cell is visible. */
    *value = atomic_load_explicit(&cells[watch->cell], memory_order_acquire);
    return *value != watch->value;
}

int sg_endpoint_deliver_watches(struct sg_internode *internode)
{
    struct sg_endpoint *endpoint = sg_internode_endpoint(internode, internode->endpoint);
    int delivered = 0;

    /* A handler may watch the next cell, which is then checked, too. */
    for (uint32_t at = 0;
         at < atomic_load_explicit(&endpoint->watch_count, memory_order_relaxed);) {
        struct sg_event event = {.kind = SG_EVENT_TIMER, .timer = {.id = endpoint->watches[at].id}};
        uint32_t protocol = endpoint->watches[at].protocol;
        uint32_t last;

        if (!has_changed(internode, &endpoint->watches[at], &event.timer.value)) {
            at++;
            continue;
        }
        last = atomic_load_explicit(&endpoint->watch_count, memory_order_relaxed) - 1;
        endpoint->watches[at] = endpoint->watches[last];
        atomic_store_explicit(&endpoint->watch_count, last, memory_order_relaxed);
        sg_endpoint_deliver_event(internode, protocol, &event, NULL);
        delivered++;
    }
    return delivered;
}
