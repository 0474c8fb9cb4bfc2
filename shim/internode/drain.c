/* The end of a communicator over several nodes. Its posts are done first; then the protocols hear
 * that no CALL will come, and finish what is outstanding.
 */
#include "internode/connect.h"
#include "internode/endpoint.h"
#include "internode/feed.h"
#include "internode/nonblocking.h"
#include "internode/waiting.h"

static bool is_drained(void *context)
{
    struct sg_span *span = context;

    return !sg_span_progress(span);
}

static bool has_no_posts(void *context)
{
    struct sg_span *span = context;

    sg_span_progress(span);
    sg_span_advance(span);
    return atomic_load_explicit(&span->posts, memory_order_acquire) == 0;
}

static void await(struct sg_span *span, bool (*is_over)(void *context))
{
    sg_span_wait(span, &(struct sg_span_waiting){.call = NULL}, is_over, span);
}

static void see_to_it(struct sg_span *span)
{
    sg_span_lock(span);
    sg_span_feed_drain(span);
    sg_span_unlock(span);
    span->sees_to_it = true;
}

void sg_span_begin_drain(struct sg_span *span)
{
    struct sg_span_endpoint *endpoint = sg_span_endpoint(span, span->endpoint);

    /* Its posts' CALLs have been fed first. */
    if (span->draining || atomic_load_explicit(&span->posts, memory_order_acquire) > 0)
        return;
    span->draining = true;
    /* The last local rank sees to it: the others may still have had a call to come. */
    if (atomic_fetch_add(&endpoint->draining, 1) + 1 == (uint32_t)span->locals &&
        span->servers == span->locals)
        see_to_it(span);
}

static bool has_all_here(void *context)
{
    struct sg_span *span = context;

    sg_span_progress(span);
    return atomic_load(&sg_span_endpoint(span, span->endpoint)->draining) == (uint32_t)span->locals;
}

void sg_span_drain(struct sg_span *span)
{
    await(span, has_no_posts);
    sg_span_begin_drain(span);
    /* Where some do not serve the endpoint, the first does: the last may be one of them. */
    if (span->servers < span->locals && span->local == 0 && !span->sees_to_it) {
        await(span, has_all_here);
        see_to_it(span);
    }
    if (span->sees_to_it)
        await(span, is_drained);
    if (span->wire != NULL)
        sg_span_note_usage(span);
}
