/* Messages of a communicator that a protocol carries (algos/algo.h, POST): a process's sends,
 * receives and probes, from their post to their end.
 *
 * Any application thread, one at a time (below MPI_THREAD_MULTIPLE); not from a signal handler.
 */
#ifndef SG_BCS_LIVE_MESSAGES_H
#define SG_BCS_LIVE_MESSAGES_H

#include "bcs/live/shared_posts.h"

#include <stddef.h>

struct sg_internode;

/* Nodes, and ranks of each, that it is possible with. */
#define SG_MESSAGES_ENDPOINTS_MAX 64
#define SG_MESSAGES_LOCALS_MAX 16

/* Whether this communicator's messages are carried here; alike on all ranks. */
bool sg_messages_are_carried(const struct sg_internode *internode);
/* With the communicator, before any other thread knows of it: where its messages are to be carried.
 * If there is no memory for that, they are not, and other ranks must not begin. */
void sg_messages_open(struct sg_internode *internode);
/* When all ranks can: from here on messages may come. */
void sg_messages_begin(struct sg_internode *internode);
/* When no thread uses it any more. What is not over never will be: it may still be polled, or
 * waited for in vain. */
void sg_messages_close(struct sg_internode *internode);
/* Posts it, behind those before it. */
void sg_messages_post(struct sg_internode *internode, struct sg_carried_message *message);
/* Looks for a message, an SG_POST_IPROBE, which is done then. */
void sg_messages_look(struct sg_internode *internode, struct sg_carried_message *message);
/* Goes on with messages without waiting; true: this one is done. */
bool sg_messages_poll(struct sg_internode *internode, const struct sg_carried_message *message);
/* Until it is done. */
void sg_messages_wait(struct sg_internode *internode, const struct sg_carried_message *message);
bool sg_carried_is_done(const struct sg_carried_message *message);
/* Bytes of the copies of sends that are detached, and not over. */
size_t sg_messages_detached_bytes(struct sg_internode *internode);
/* Does what others ask this process for, and posts what has waited. Any thread. */
void sg_messages_advance(struct sg_internode *internode);
/* Of this process nothing is under way or waits for room. *steps: grows with what has been done for
 * its messages. */
bool sg_messages_are_over(struct sg_internode *internode, uint64_t *steps);
/* When no rank will post or wait any more: what is under way is given up. */
void sg_messages_stop(struct sg_internode *internode);

#endif
