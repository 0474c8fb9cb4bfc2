#include "internode/feed.h"

#include "core/clock.h"
#include "internode/consistency.h"
#include "internode/decisions.h"
#include "internode/host.h"
#include "internode/statistics.h"

#include <string.h>

typedef void (*sg_handler)(void *state, const struct sg_event *event, struct sg_actions *actions);

static sg_handler handler_of(const struct sg_algo *algo, enum sg_event_kind kind)
{
    switch (kind) {
    case SG_EVENT_CALL:
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

/* False: it did nothing but ask for cells again. */
static bool feed_one(struct sg_span *span, uint32_t object, sg_handler handler,
                     const struct sg_event *event, const void *parts)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    struct sg_algo_head *head = (void *)sg_span_region(span, object, span->endpoint);
    struct sg_algo_head before = *head;
    struct sg_actions actions = {
        .list = endpoint->actions, .capacity = SG_ACTIONS_MAX, .parts = endpoint->parts};
    struct sg_span_feeding feeding = {span, object, event, parts};
    struct sg_late late;
    bool is_late;

    if (handler == NULL)
        return false;
    handler(head, event, &actions);
    sg_span_decided(span, object, event, handler == span->objects[object].algo->on_drain, &actions);
    is_late = head->late != before.late && sg_span_begin_late(span, object, event, &late);
    sg_span_carry_out(&feeding, &actions);
    if (is_late)
        sg_span_end_late(span, &late);
    sg_span_count(endpoint, &before, head, actions.marks);
    for (uint32_t i = 0; i < actions.count; i++) {
        if (actions.list[i].kind != SG_ACTION_READ_CELLS)
            return true;
    }
    return false;
}

static bool feed_reply(struct sg_span *span, const struct sg_span_reply *reply, uint64_t time_ns)
{
    struct sg_event event = {.kind = SG_EVENT_REPLY, .time_ns = time_ns, .reply.tag = reply->tag};

    memcpy(event.reply.value, reply->value, sizeof reply->value);
    return feed_one(span, reply->object, span->objects[reply->object].algo->on_reply, &event, NULL);
}

static void feed_replies(struct sg_span *span, uint64_t time_ns)
{
    struct sg_span_reply reply;

    while (sg_span_take_reply(sg_span_endpoint(span, span->endpoint), false, &reply))
        feed_reply(span, &reply, time_ns);
}

/* The event, and the REPLYs that its actions got at once. */
static void feed_all(struct sg_span *span, uint32_t object, sg_handler handler,
                     struct sg_event *event, const void *parts)
{
    event->time_ns = sg_clock_ns();
    feed_one(span, object, handler, event, parts);
    feed_replies(span, event->time_ns);
}

/* ---- calls, messages and timers ---- */

static void feed_call(struct sg_span *span, struct sg_span_instance *place)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    const struct sg_algo_head *head =
        (const void *)sg_span_region(span, place->object, span->endpoint);
    struct sg_event event = {.kind = SG_EVENT_CALL,
                             .call = {.operation = (enum sg_operation)place->operation,
                                      .flags = place->flags,
                                      .bytes = place->bytes,
                                      .root = place->root,
                                      .site = 0}};

    place->object_seq = head->seq + 1;
    if (place->bytes > 0 || span->wire != NULL)
        *sg_span_kind_of(span, place->object, place->object_seq) = (struct sg_span_kind){
            place->object_seq, place->reduction, place->element, sg_span_note(span, place)};
    if (place->flags & SG_CALL_SPLIT)
        atomic_fetch_add_explicit(&endpoint->bell.posted, 1, memory_order_relaxed);
    atomic_store_explicit(&endpoint->fed, place->position + 1, memory_order_relaxed);
    feed_all(span, place->object, span->objects[place->object].algo->on_call, &event, NULL);
}

void sg_span_feed_calls(struct sg_span *span)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);

    for (;;) {
        /* Relaxed, both: under the lock. */
        uint64_t fed = atomic_load_explicit(&endpoint->fed, memory_order_relaxed);
        struct sg_span_instance *place = sg_span_place(span, fed);

        if (atomic_load_explicit(&endpoint->completed, memory_order_relaxed) != fed ||
            place->ready != fed + 1)
            return;
        feed_call(span, place);
    }
}

void sg_span_feed(struct sg_span *span, uint32_t object, struct sg_event *event, const void *parts)
{
    feed_all(span, object, handler_of(span->objects[object].algo, event->kind), event, parts);
    sg_span_feed_calls(span);
}

void sg_span_feed_drain(struct sg_span *span)
{
    struct sg_event event = {.kind = SG_EVENT_CALL};

    for (uint32_t i = 0; i < (uint32_t)span->object_count; i++) {
        if (span->objects[i].algo != NULL)
            feed_all(span, i, span->objects[i].algo->on_drain, &event, NULL);
    }
}

/* ---- what is awaited without a message ---- */

void sg_span_feed_answer(struct sg_span *span, const struct sg_transport_message *message)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    struct sg_span_reply reply = {.object = (uint32_t)(message->object & 0xff),
                                  .tag = message->tag,
                                  .waits = (message->object & SG_SPAN_WAITS) != 0};

    memcpy(reply.value, message->value, sizeof reply.value);
    endpoint->replies[endpoint->reply_count++] = reply;
    if (reply.waits)
        return;
    feed_replies(span, sg_clock_ns());
    sg_span_feed_calls(span);
}

/* Those that are there now: what they ask for again waits for the next look. */
int sg_span_feed_waiting(struct sg_span *span)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    struct sg_span_reply reply;
    uint32_t waiting = 0;
    int fed = 0;

    for (uint32_t i = 0; i < endpoint->reply_count; i++)
        waiting += endpoint->replies[i].waits;
    for (; waiting > 0 && sg_span_take_reply(endpoint, true, &reply); waiting--) {
        fed += feed_reply(span, &reply, sg_clock_ns());
        feed_replies(span, sg_clock_ns());
    }
    if (fed > 0)
        sg_span_feed_calls(span);
    return fed;
}

static bool has_changed(const struct sg_span *span, const struct sg_span_watch *watch,
                        uint64_t *value)
{
    const struct sg_span_object *object = &span->objects[watch->object];
    const _Atomic uint64_t *cells =
        (const void *)(sg_span_region(span, watch->object, span->endpoint) + object->cells_at);

    /* Acquire: what was written before the cell is there. */
    *value = atomic_load_explicit(&cells[watch->cell], memory_order_acquire);
    return *value != watch->value;
}

int sg_span_feed_watches(struct sg_span *span)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    int fed = 0;

    /* A handler may watch the next cell: it is looked at, too. */
    for (uint32_t at = 0;
         at < atomic_load_explicit(&endpoint->watch_count, memory_order_relaxed);) {
        struct sg_event event = {.kind = SG_EVENT_TIMER, .timer = {.id = endpoint->watches[at].id}};
        uint32_t object = endpoint->watches[at].object;
        uint32_t last;

        if (!has_changed(span, &endpoint->watches[at], &event.timer.value)) {
            at++;
            continue;
        }
        last = atomic_load_explicit(&endpoint->watch_count, memory_order_relaxed) - 1;
        endpoint->watches[at] = endpoint->watches[last];
        atomic_store_explicit(&endpoint->watch_count, last, memory_order_relaxed);
        sg_span_feed(span, object, &event, NULL);
        fed++;
    }
    return fed;
}
