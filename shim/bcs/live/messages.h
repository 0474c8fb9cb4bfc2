/* Messages of a communicator that a protocol carries (algos/algo.h, POST): a process's sends,
 * receives and probes, from post to end.
 *
 * Any application thread, one at a time (below MPI_THREAD_MULTIPLE); not from a signal handler.
 */
#ifndef SG_BCS_LIVE_MESSAGES_H
#define SG_BCS_LIVE_MESSAGES_H

#include "bcs/live/shared_posts.h"

#include <stddef.h>

struct sg_internode;

/* Limits: nodes, and ranks on each. */
#define SG_MESSAGES_ENDPOINTS_MAX 64
#define SG_MESSAGES_LOCALS_MAX 16

/* True if this communicator's messages are carried here; the same on all ranks. */
bool sg_messages_are_carried(const struct sg_internode *internode);
/* Call with the communicator, before another thread uses it, if its messages are to be carried. If
 * memory is out, they are not carried, and other ranks must not begin. */
void sg_messages_open(struct sg_internode *internode);
/* Call when all ranks are ready: messages may arrive from here on. */
void sg_messages_begin(struct sg_internode *internode);
/* Call when no thread uses the communicator any more. Messages under way never complete: a poll
 * returns false, a wait never returns. */
void sg_messages_close(struct sg_internode *internode);
/* Posts a message, after those posted before it. */
void sg_messages_post(struct sg_internode *internode, struct sg_carried_message *message);
/* Looks for a message: an SG_POST_IPROBE, which is done on return. */
void sg_messages_look(struct sg_internode *internode, struct sg_carried_message *message);
/* Advances messages without waiting. True: this one is done. */
bool sg_messages_poll(struct sg_internode *internode, const struct sg_carried_message *message);
/* Waits until the message is done. */
void sg_messages_wait(struct sg_internode *internode, const struct sg_carried_message *message);
bool sg_carried_is_done(const struct sg_carried_message *message);
/* Returns the bytes in copies of detached sends that are not over. */
size_t sg_messages_detached_bytes(struct sg_internode *internode);
/* Does the work that other processes left for this one, and posts queued messages. Any thread. */
void sg_messages_advance(struct sg_internode *internode);
/* True if this process has nothing under way or queued. *steps grows with each step of its
 * messages. */
bool sg_messages_are_over(struct sg_internode *internode, uint64_t *steps);
/* Call when no rank will post or wait any more: gives up what is under way. */
void sg_messages_stop(struct sg_internode *internode);

#endif
