/* Calls that do not wait: posts. Parts of a call that stay behind go on in what this process calls
 * here, or by the helper thread. The call's fields and buffers are to stay until it is done. The
 * communicator need not: freeing it brings its posts to their end.
 */
#ifndef SG_INTERNODE_NONBLOCKING_H
#define SG_INTERNODE_NONBLOCKING_H

#include "internode/chunk.h"

struct sg_span_post;

/* NULL: out of memory. Free: before it has been started, or when it is done. */
struct sg_span_post *sg_span_post_new(struct sg_span *span, const struct sg_call *call,
                                      const struct sg_span_plan *plan);
void sg_span_post_free(struct sg_span_post *post);
void sg_span_post_start(struct sg_span_post *post, struct sg_outcome *outcome);
/* Goes on, without waiting. True: it is done. */
bool sg_span_post_poll(struct sg_span_post *post);
/* Until it is done. */
void sg_span_post_wait(struct sg_span_post *post);
bool sg_span_post_is_done(const struct sg_span_post *post);

/* Posts go on as far as they can. */
void sg_span_advance(struct sg_span *span);
/* As sg_span_step_window: posts go first. */
bool sg_span_step_behind_posts(struct sg_span *span, struct sg_span_window *window);
/* The same, of a call that waits. */
static inline bool sg_span_step_call(struct sg_span *span, struct sg_span_window *window)
{
    /* Acquire: what posts did to the span comes before. Only this thread adds to them. */
    return atomic_load_explicit(&span->posts, memory_order_acquire) == 0
               ? sg_span_step_window(span, window)
               : sg_span_step_behind_posts(span, window);
}

/* All posts are done: returns when no thread is at one any more. */
void sg_span_await_users(struct sg_span *span);

#endif
