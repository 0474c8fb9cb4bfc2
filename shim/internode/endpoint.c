#include "internode/endpoint.h"

#include "core/clock.h"
#include "internode/consistency.h"
#include "internode/feed.h"

#include <sched.h>

/* Messages taken before the lock is looked at again. */
#define MESSAGES_AT_ONCE 64
/* Some microseconds: what a holder takes, if it has a processor. */
#define SPINS_TO_YIELD 100u

static bool try_lock(struct sg_span *span)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    uint32_t free = 0;

    /* Acquire: what the last holder did to the endpoint's state comes before. */
    return atomic_compare_exchange_strong_explicit(&endpoint->lock, &free, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

/* Holders are other ranks of the endpoint, the helper threads of their processes and this one's,
 * and signal handlers in other threads: all go on without this thread, though perhaps on its
 * processor. A handler in this thread never waits: it interrupts this loop, and then it has let
 * the lock go again before the loop goes on; or it interrupts the holder below, and fails. */
void sg_span_lock(struct sg_span *span)
{
    for (uint32_t tries = 1; !try_lock(span); tries++) {
        if (tries % SPINS_TO_YIELD == 0)
            sched_yield();
        else
            __builtin_ia32_pause();
    }
}

static void learn_kind(struct sg_span *span, uint64_t word, const struct sg_header *header)
{
    struct sg_span_kind *kind = sg_span_kind_of(span, word & 0xff, header->seq);

    /* Protocols number their releases apart: such a number is at most the instance's, and does not
     * make a later one forget what it is. */
    if (header->parts == 0 || (int32_t)(header->seq - kind->seq) < 0)
        return;
    kind->seq = header->seq;
    kind->reduction = (uint8_t)(word >> 8);
    kind->element = (uint8_t)(word >> 16);
}

/* How many were due. */
static int feed_timers(struct sg_span *span)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    /* Relaxed, here and where timers are set: under the lock; others only look. */
    uint64_t next_ns = atomic_load_explicit(&endpoint->bell.next_timer_ns, memory_order_relaxed);
    uint64_t now_ns;
    int fed = 0;

    if (next_ns == 0)
        return 0;
    now_ns = sg_clock_ns();
    if (now_ns < next_ns)
        return 0;
    atomic_store_explicit(&endpoint->bell.next_timer_ns, 0, memory_order_relaxed);
    for (int object = 0; object < span->object_count; object++) {
        for (uint32_t id = 0; id < SG_TIMERS; id++) {
            uint64_t *time_ns = &endpoint->timers[object][id];
            struct sg_event event = {.kind = SG_EVENT_TIMER};

            if (*time_ns != 0 && *time_ns <= now_ns) {
                *time_ns = 0;
                event.timer.id = id;
                sg_span_feed(span, (uint32_t)object, &event, NULL);
                fed++;
            }
            next_ns = atomic_load_explicit(&endpoint->bell.next_timer_ns, memory_order_relaxed);
            if (*time_ns != 0 && (next_ns == 0 || *time_ns < next_ns))
                atomic_store_explicit(&endpoint->bell.next_timer_ns, *time_ns,
                                      memory_order_relaxed);
        }
    }
    return fed;
}

/* Messages, replies and watched cells. */
static int take_arrived(struct sg_span *span)
{
    struct sg_transport_message message;
    int taken = 0;

    for (; taken < MESSAGES_AT_ONCE; taken++) {
        struct sg_event event = {.kind = SG_EVENT_MESSAGE};

        message.is_reply = false; /* transports that have none say nothing of it */
        if (!span->ops->receive(span->transport, span->endpoint, &message))
            break;
        if (message.is_reply && (message.object & 0xff) == SG_SPAN_HOME_ONLY) {
            sg_span_keep_answer(&span->asking, message.value[0]);
        } else if (message.is_reply) {
            sg_span_feed_answer(span, &message);
        } else if (span->wire == NULL ||
                   (sg_span_hear(span, &message) && (message.object & 0xff) != SG_SPAN_NOTE_ONLY)) {
            event.message = message.message;
            learn_kind(span, message.object, &message.message.header);
            sg_span_feed(span, message.object & 0xff, &event, message.parts);
        }
        span->ops->release(span->transport, span->endpoint, &message);
    }
    return span->is_polled ? taken + sg_span_feed_watches(span) : taken;
}

int sg_span_take(struct sg_span *span)
{
    int taken = span->is_polled ? sg_span_feed_waiting(span) : 0;

    taken += take_arrived(span);
    /* Of ranks that do not serve the endpoint. */
    if (span->servers < span->locals)
        sg_span_feed_calls(span);
    return taken + feed_timers(span);
}

static void settle(struct sg_span *span)
{
    bool fed = false;

    while (!span->wire->settled(span->transport)) {
        if (take_arrived(span) > 0)
            fed = true;
        else
            sched_yield();
    }
    if (fed)
        sg_wait_wake(&span->bed);
}

/* A process that left another's accesses under way could only wait for them, with the lock that the
 * other wants to see that they are over. */
void sg_span_unlock(struct sg_span *span)
{
    if (span->wire != NULL && span->is_one_sided && span->servers > 1 && sg_span_serves(span))
        settle(span);
    /* Release: pairs with try_lock. */
    atomic_store_explicit(&sg_span_endpoint(span, span->endpoint)->lock, 0, memory_order_release);
}

bool sg_span_look(struct sg_span *span)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    bool has_fed = false;

    if (!sg_span_serves(span))
        return false;
    for (;;) {
        int fed;

        if (!try_lock(span)) {
            /* The holder looks again: by the fences either it sees this after its unlock, or we see
             * that. Release: it also sees what we have seen. An exchange: a store by a third would
             * hide ours, and what we have seen, from the holder. */
            atomic_exchange_explicit(&endpoint->bell.pending, 1, memory_order_release);
            atomic_thread_fence(memory_order_seq_cst);
            if (!try_lock(span))
                return has_fed;
        }
        /* An exchange, to acquire what it overwrites. */
        atomic_exchange_explicit(&endpoint->bell.pending, 0, memory_order_acquire);
        fed = sg_span_take(span);
        sg_span_unlock(span);
        if (fed > 0) {
            has_fed = true;
            /* What followed from it may be what others sleep for, here or at other endpoints. */
            sg_wait_wake(&span->bed);
        }
        atomic_thread_fence(memory_order_seq_cst);
        if (fed < MESSAGES_AT_ONCE &&
            atomic_load_explicit(&endpoint->bell.pending, memory_order_relaxed) == 0)
            return has_fed;
    }
}

bool sg_span_progress(struct sg_span *span)
{
    const struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);

    sg_span_look(span);
    return atomic_load_explicit(&endpoint->bell.outstanding, memory_order_relaxed) > 0;
}

/* ---- ranks inside a call ---- */

void sg_span_enter(struct sg_span *span)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);

    if (!sg_span_serves(span))
        return;
    atomic_fetch_add(&endpoint->bell.inside, 1);
    sg_progress_disarm(&span->client);
}

/* The highest mode that the rules of outstanding instances ask for, and of CALLs that wait for
 * their turn, which whoever is rung will feed. What comes for the endpoint while its lock is held
 * is looked for on the way out. */
static enum sg_progress_mode mode_asked(struct sg_span *span)
{
    const struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);
    enum sg_progress_mode highest = span->progress_low;
    uint64_t next;

    if (span->progress_low == span->progress_high)
        return highest;
    sg_span_lock(span);
    /* Relaxed: under the lock. */
    next = atomic_load_explicit(&endpoint->fed, memory_order_relaxed);
    for (; sg_span_place(span, next)->ready == next + 1; next++) {
        const struct sg_span_object *object = &span->objects[sg_span_place(span, next)->object];

        if (object->progress > highest)
            highest = object->progress;
    }
    for (uint32_t i = 0; i < (uint32_t)span->object_count; i++) {
        const struct sg_span_object *object = &span->objects[i];
        const struct sg_algo_head *head = (void *)sg_span_region(span, i, span->endpoint);

        if (object->algo != NULL && head->outstanding > 0 && object->progress > highest)
            highest = object->progress;
    }
    sg_span_unlock(span);
    return highest;
}

/* Between machines a message is told to one process of its receiver, which is not to be chosen:
 * each that has left is told while the instance it came for is not over here. */
static bool leaves_before_others(const struct sg_span *span)
{
    if (span->wire == NULL || span->locals == 1 || span->position == 0)
        return false;
    return atomic_load_explicit(&sg_span_place(span, span->position - 1)->finished,
                                memory_order_relaxed) < span->position;
}

static bool is_left_something(const struct sg_span *span)
{
    const struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);

    if (span->servers < span->locals && atomic_load(&endpoint->bell.pending) > 0)
        return true;
    return atomic_load_explicit(&endpoint->bell.outstanding, memory_order_relaxed) > 0 &&
           (span->ops->pending(span->transport, span->endpoint) ||
            atomic_load_explicit(&endpoint->watch_count, memory_order_relaxed) > 0);
}

/* Sequentially consistent: a sender that still saw us inside has its message seen below. */
void sg_span_leave(struct sg_span *span)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);

    if (!sg_span_serves(span))
        return;
    /* What is asked of an adapter comes to this process alone. */
    if (span->wire != NULL) {
        sg_span_lock(span);
        settle(span);
        sg_span_unlock(span);
    }
    if (atomic_load_explicit(&endpoint->bell.outstanding, memory_order_relaxed) > 0 ||
        leaves_before_others(span))
        sg_progress_arm(&span->client, mode_asked(span));
    atomic_fetch_sub(&endpoint->bell.inside, 1);
    if (is_left_something(span))
        sg_span_progress(span);
    sg_progress_left(&span->client);
}
