/* An endpoint: its lock, what is polled under it, and the ranks inside a call.
 *
 * The lock is held by an application's thread, the progress thread or a signal handler, of any
 * process of the endpoint.
 */
#ifndef SG_INTERNODE_ENDPOINT_H
#define SG_INTERNODE_ENDPOINT_H

#include "internode/communicator.h"

/* Not in a signal handler. */
void sg_span_lock(struct sg_span *span);
/* Between machines, what this process has asked of others' memory is over before another process of
 * the endpoint has the lock. */
void sg_span_unlock(struct sg_span *span);

/* The lock held: handles what has arrived and timers that are due. How many events it fed. */
int sg_span_take(struct sg_span *span);

/* The same, unless another thread holds the endpoint: the holder polls again before it lets go. Any
 * thread, any signal handler. True: there was something. */
bool sg_span_look(struct sg_span *span);
/* The same. True while something is outstanding at this rank's endpoint. */
bool sg_span_progress(struct sg_span *span);

/* Around whatever enters instances or waits for them, in a call. */
void sg_span_enter(struct sg_span *span);
void sg_span_leave(struct sg_span *span);

#endif
