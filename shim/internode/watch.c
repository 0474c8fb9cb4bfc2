/* What protocols wait for without a message: replies to accesses, and watched cells, which are
 * looked at while the endpoint is polled. All under its lock, as host.c. */
#include "core/clock.h"
#include "internode/layout.h"

#include <string.h>

void sg_span_watch(struct sg_span *span, uint32_t object, const struct sg_action *action)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    /* Relaxed, here and below: under the lock. */
    uint32_t count = atomic_load_explicit(&endpoint->watch_count, memory_order_relaxed);
    uint32_t at = 0;

    while (at < count &&
           (endpoint->watches[at].object != object || endpoint->watches[at].id != action->id))
        at++;
    endpoint->watches[at] =
        (struct sg_span_watch){object, action->id, action->access.remote, action->access.value};
    if (at == count)
        atomic_store_explicit(&endpoint->watch_count, count + 1, memory_order_relaxed);
}

bool sg_span_take_reply(struct sg_span_endpoint *endpoint, bool waiting, struct sg_span_reply *out)
{
    uint32_t at = 0;

    while (at < endpoint->reply_count && endpoint->replies[at].waits != waiting)
        at++;
    if (at == endpoint->reply_count)
        return false;
    *out = endpoint->replies[at];
    endpoint->reply_count--;
    memmove(&endpoint->replies[at], &endpoint->replies[at + 1],
            (endpoint->reply_count - at) * sizeof *out);
    return true;
}

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
    sg_span_feed_replies(span, sg_clock_ns());
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
        fed += sg_span_feed_reply(span, &reply, sg_clock_ns());
        sg_span_feed_replies(span, sg_clock_ns());
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
