/* Nonblocking calls. Chunks of a call that stay behind go on in what this process calls
 * here, or by the helper thread. The call's fields and buffers are to stay until it is done. The
 * communicator need not: freeing it brings its nonblocking calls to their end.
 */
#ifndef SG_INTERNODE_NONBLOCKING_H
#define SG_INTERNODE_NONBLOCKING_H

#include "internode/chunk.h"

struct sg_nonblocking;

/* NULL: out of memory. Free: before it has been started, or when it is done. */
struct sg_nonblocking *sg_nonblocking_new(struct sg_internode *internode,
                                          const struct sg_call *call,
                                          const struct sg_internode_plan *plan);
void sg_nonblocking_free(struct sg_nonblocking *nonblocking);
void sg_nonblocking_start(struct sg_nonblocking *nonblocking,
                          struct sg_call_statistics *statistics);
/* Goes on, without waiting. True: it is done. */
bool sg_nonblocking_poll(struct sg_nonblocking *nonblocking);
/* Until it is done. */
void sg_nonblocking_wait(struct sg_nonblocking *nonblocking);
bool sg_nonblocking_is_done(const struct sg_nonblocking *nonblocking);

/* Nonblocking calls go on as far as they can. */
void sg_nonblocking_advance(struct sg_internode *internode);
/* As sg_chunk_window_step: nonblocking calls go first. */
bool sg_nonblocking_step_behind(struct sg_internode *internode, struct sg_chunk_window *window);
/* The same, of a call that waits. */
static inline bool sg_nonblocking_step_call(struct sg_internode *internode,
                                            struct sg_chunk_window *window)
{
    /* Acquire: what nonblocking calls did to the communicator comes before. Only this thread adds
     * to them. */
    return atomic_load_explicit(&internode->nonblocking_count, memory_order_acquire) == 0
               ? sg_chunk_window_step(internode, window)
               : sg_nonblocking_step_behind(internode, window);
}

/* All nonblocking calls are done: returns when no thread is at one any more. */
void sg_nonblocking_await_users(struct sg_internode *internode);

#endif
