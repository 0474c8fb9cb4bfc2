/* An endpoint: its lock, polling and event delivery under that lock, and the ranks inside a call,
 * with their waits.
 *
 * An application thread, the progress thread or a signal handler holds the lock, in any process of
 * the endpoint.
 */
#ifndef SG_INTERNODE_ENDPOINT_H
#define SG_INTERNODE_ENDPOINT_H

#include "internode/communicator.h"

/* Not in a signal handler. */
void sg_endpoint_lock(struct sg_internode *internode);
/* Between machines: completes this process's accesses to other processes' memory before another
 * process of the endpoint gets the lock. */
void sg_endpoint_unlock(struct sg_internode *internode);
/* Locks in order to deliver events that are not messages. False: other threads deliver them, and
 * the lock is not held. Not in a signal handler. */
bool sg_endpoint_lock_to_deliver(struct sg_internode *internode);
/* With the lock: handles messages that have arrived and timers that are due. Returns the number of
 * events delivered. */
int sg_endpoint_receive(struct sg_internode *internode);
/* Receives, unless another thread holds the endpoint: the holder polls again before it unlocks. Any
 * thread, any signal handler. True: an event was handled. */
bool sg_endpoint_poll(struct sg_internode *internode);
/* As sg_endpoint_poll. True while something is outstanding at this rank's endpoint. */
bool sg_internode_progress(struct sg_internode *internode);
/* Enclose the code of a call that enters instances or waits for them. */
void sg_internode_enter(struct sg_internode *internode);
void sg_internode_leave(struct sg_internode *internode);
/* Marks the communicator whose call with a user's operation this thread is in; NULL: in none. A
 * user's operation runs only in an application thread that is in its call. While there are
 * instances with one (struct sg_endpoint, users), only the ranks in that call deliver here: all
 * ranks of the node, which stay until the instance is finished. */
void sg_endpoint_runs_users(const struct sg_internode *internode);

/* Delivers events to protocols: CALLs in order, messages, timers, replies, watched cells. host.h
 * carries out the resulting actions.
 *
 * Everything runs under the endpoint's lock, in an application thread, the progress thread or a
 * signal handler: no malloc, no stdio, no MPI.
 */

/* Delivers one event, the replies to accesses completed at once, and the CALLs that become
 * deliverable. parts: the message's. */
void sg_endpoint_deliver_event(struct sg_internode *internode, uint32_t protocol,
                               struct sg_event *event, const void *parts);
/* Delivers ready CALLs in order, each after the COMPLETE of the one before. */
void sg_endpoint_deliver_calls(struct sg_internode *internode);
/* Delivers the REPLY to an access that returned LATER. */
void sg_endpoint_deliver_answer(struct sg_internode *internode,
                                const struct sg_transport_message *message);
/* Tells the protocols that no CALL will come. */
void sg_endpoint_deliver_drain(struct sg_internode *internode);

/* Notes by which ranks of several machines find out that they are in different calls. With the
 * lock. Returns the note for an instance's messages; 0: none. */
uint32_t sg_endpoint_note(const struct sg_internode *internode,
                          const struct sg_internode_instance *instance);
/* Compares an instance that has just been entered with the note kept for it. */
void sg_endpoint_check_instance(struct sg_internode *internode,
                                const struct sg_internode_instance *instance);

/* ---- a rank's wait for other ranks ----
 *
 * Meanwhile it drives its own progress, MPICH's and that of other communicators, and reports a long
 * wait to the user.
 */

struct sg_carried_message;

struct sg_internode_waiting {
    struct sg_wait wait;
    const struct sg_call *call;               /* NULL: waits for a message */
    uint64_t position;                        /* of the awaited instance */
    const struct sg_carried_message *message; /* NULL with no call: the wait is not reported */
};

/* Sets the length of a wait that is reported; 0: never. */
void sg_internode_stall_after(uint64_t ns);
/* Waits until is_over returns true. is_over makes progress here, and may restart the time of
 * *waiting. */
void sg_internode_wait(struct sg_internode *internode, struct sg_internode_waiting *waiting,
                       bool (*is_over)(void *context), void *context);

#endif
