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
/* Between machines: this process's accesses to the memory of others are complete before another
 * process of the endpoint gets the lock. */
void sg_endpoint_unlock(struct sg_internode *internode);
/* The same, for who is to deliver events that are not messages. False: others are to, and the lock
 * is not held. Not in a signal handler. */
bool sg_endpoint_lock_to_deliver(struct sg_internode *internode);
/* With the lock: handles what has arrived and timers that are due. Returns the number of events
 * delivered. */
int sg_endpoint_receive(struct sg_internode *internode);
/* The same, unless another thread holds the endpoint: the holder polls again before it lets go. Any
 * thread, any signal handler. True: something was handled. */
bool sg_endpoint_poll(struct sg_internode *internode);
/* The same. True while something is outstanding at this rank's endpoint. */
bool sg_internode_progress(struct sg_internode *internode);
/* Around a call's code that enters instances or waits for them. */
void sg_internode_enter(struct sg_internode *internode);
void sg_internode_leave(struct sg_internode *internode);
/* An operation of the user's runs in a thread of the application that is in the call, and in no
 * other. So while there are instances with one (struct sg_endpoint, users) only the ranks in that
 * call deliver here: all ranks of the node, which stay until it is over. This thread is in such a
 * call of the communicator; NULL: in none. */
void sg_endpoint_runs_users(const struct sg_internode *internode);

/* Delivers events to protocols: CALLs in their turn, messages, timers, replies, watched cells.
 * host.h carries out the actions that follow.
 *
 * Everything runs under the endpoint's lock, in an application's thread, the progress thread or a
 * signal handler: no malloc, no stdio, no MPI.
 */

/* One event, the replies to accesses that are done at once, and the CALLs whose turn has come.
 * parts: of a message. */
void sg_endpoint_deliver_event(struct sg_internode *internode, uint32_t protocol,
                               struct sg_event *event, const void *parts);
/* One after another, each after the COMPLETE of the one before. */
void sg_endpoint_deliver_calls(struct sg_internode *internode);
/* The REPLY to an access that returned LATER. */
void sg_endpoint_deliver_answer(struct sg_internode *internode,
                                const struct sg_transport_message *message);
/* No CALL will come. */
void sg_endpoint_deliver_drain(struct sg_internode *internode);

#endif
