/* An endpoint: its lock, what is polled under it, and the ranks inside a call.
 *
 * The lock is held by an application's thread, the progress thread or a signal handler, of any
 * process of the endpoint.
 */
#ifndef SG_INTERNODE_ENDPOINT_H
#define SG_INTERNODE_ENDPOINT_H

#include "internode/communicator.h"

/* Not in a signal handler. */
void sg_endpoint_lock(struct sg_internode *internode);
/* Between machines, what this process has asked of others' memory is over before another process of
 * the endpoint has the lock. */
void sg_endpoint_unlock(struct sg_internode *internode);

/* The lock held: handles what has arrived and timers that are due. How many events it delivered. */
int sg_endpoint_receive(struct sg_internode *internode);

/* The same, unless another thread holds the endpoint: the holder polls again before it lets go. Any
 * thread, any signal handler. True: there was something. */
bool sg_endpoint_poll(struct sg_internode *internode);
/* The same. True while something is outstanding at this rank's endpoint. */
bool sg_internode_progress(struct sg_internode *internode);

/* Around whatever enters instances or waits for them, in a call. */
void sg_internode_enter(struct sg_internode *internode);
void sg_internode_leave(struct sg_internode *internode);

#endif
