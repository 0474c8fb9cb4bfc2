/* Nonblocking calls. Chunks that are incomplete when the call returns progress whenever this
 * process is in the library, or in the helper thread. The call's fields and buffers must stay valid
 * until it is complete. The communicator need not: freeing it completes its nonblocking calls. */
#ifndef SG_INTERNODE_NONBLOCKING_H
#define SG_INTERNODE_NONBLOCKING_H

#include "internode/chunk.h"

struct sg_nonblocking;

/* NULL: out of memory. Free it before it is started, or when it is complete. */
struct sg_nonblocking *sg_nonblocking_new(struct sg_internode *internode,
                                          const struct sg_internode_plan *plan);
void sg_nonblocking_free(struct sg_nonblocking *nonblocking);
void sg_nonblocking_start(struct sg_nonblocking *nonblocking,
                          struct sg_call_statistics *statistics);
/* Progresses without waiting. True: it is complete. */
bool sg_nonblocking_poll(struct sg_nonblocking *nonblocking);
/* Waits until it is done. */
void sg_nonblocking_wait(struct sg_nonblocking *nonblocking);
bool sg_nonblocking_is_done(const struct sg_nonblocking *nonblocking);
/* Error class of a call that is done, and its slice as in the call's statistics. */
int sg_nonblocking_error(const struct sg_nonblocking *nonblocking);
uint64_t sg_nonblocking_slice(const struct sg_nonblocking *nonblocking);

/* Converts a blocking call to one without a caller, which may then leave with the window as it is.
 * The operand is copied, and there is no result. False: over the memory limit, or out of memory. */
bool sg_nonblocking_keep(struct sg_internode *internode, const struct sg_chunk_window *window);

/* Advances nonblocking calls as far as possible. */
void sg_nonblocking_advance(struct sg_internode *internode);
/* As sg_chunk_window_begin and sg_chunk_window_step: nonblocking calls go first. */
void sg_nonblocking_begin_behind(struct sg_internode *internode, struct sg_chunk_window *window);
bool sg_nonblocking_step_behind(struct sg_internode *internode, struct sg_chunk_window *window);
/* As above, for a call that waits. Only its thread adds nonblocking calls. */
static inline bool sg_nonblocking_any(const struct sg_internode *internode)
{
    /* Acquire: their changes to the communicator come before. */
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

/* Precondition: all nonblocking calls are complete. Returns when no thread works on one any more.
 */
void sg_nonblocking_await_users(struct sg_internode *internode);

#endif
