/* Nonblocking calls. Chunks that are not complete when the call returns progress whenever this
 * process is in the library, or in the helper thread. The call's fields and buffers must stay until
 * it is complete. The communicator need not: freeing it completes its nonblocking calls.
 */
#ifndef SG_INTERNODE_NONBLOCKING_H
#define SG_INTERNODE_NONBLOCKING_H

#include "internode/chunk.h"

struct sg_nonblocking;

/* NULL: out of memory. Free it before it has been started, or when it is complete. */
struct sg_nonblocking *sg_nonblocking_new(struct sg_internode *internode,
                                          const struct sg_call *call,
                                          const struct sg_internode_plan *plan);
void sg_nonblocking_free(struct sg_nonblocking *nonblocking);
void sg_nonblocking_start(struct sg_nonblocking *nonblocking,
                          struct sg_call_statistics *statistics);
/* Progresses without waiting. True: it is complete. */
bool sg_nonblocking_poll(struct sg_nonblocking *nonblocking);
/* Until it is done. */
void sg_nonblocking_wait(struct sg_nonblocking *nonblocking);
bool sg_nonblocking_is_done(const struct sg_nonblocking *nonblocking);
/* Of one that is done: the class of its error, and as in the call's statistics. */
int sg_nonblocking_error(const struct sg_nonblocking *nonblocking);
uint64_t sg_nonblocking_slice(const struct sg_nonblocking *nonblocking);

/* A blocking call goes on as one that nobody asks for: its caller may leave with the window as it
 * is. Its operand is kept, and it gets no result. False: there is no room. */
bool sg_nonblocking_keep(struct sg_internode *internode, const struct sg_chunk_window *window);

/* Advances nonblocking calls as far as possible. */
void sg_nonblocking_advance(struct sg_internode *internode);
/* As sg_chunk_window_begin and sg_chunk_window_step: nonblocking calls go first. */
void sg_nonblocking_begin_behind(struct sg_internode *internode, struct sg_chunk_window *window);
bool sg_nonblocking_step_behind(struct sg_internode *internode, struct sg_chunk_window *window);
/* The same, for a call that waits. Only its thread adds nonblocking calls. */
static inline bool sg_nonblocking_any(const struct sg_internode *internode)
{
    /* Acquire: what they did to the communicator comes before. */
    return atomic_load_explicit(&internode->nonblocking_count, memory_order_acquire) > 0;
}
static inline void sg_nonblocking_begin_call(struct sg_internode *internode,
                                             struct sg_chunk_window *window)
{
    if (sg_nonblocking_any(internode))
        sg_nonblocking_begin_behind(internode, window);
    else
        sg_chunk_window_begin(internode, window);
}
static inline bool sg_nonblocking_step_call(struct sg_internode *internode,
                                            struct sg_chunk_window *window)
{
    return sg_nonblocking_any(internode) ? sg_nonblocking_step_behind(internode, window)
                                         : sg_chunk_window_step(internode, window);
}

/* All nonblocking calls are complete: returns when no thread works on one any more. */
void sg_nonblocking_await_users(struct sg_internode *internode);

#endif
