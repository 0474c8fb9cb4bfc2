/* A rank's wait for other ranks. Meanwhile it drives its own progress, MPICH's and that of other
 * communicators, and reports a long wait to the user. Between machines, a health check detects
 * failed transports and ranks in different calls. Also holds the first count of instances. */
#ifndef SG_INTERNODE_CALL_WAITING_H
#define SG_INTERNODE_CALL_WAITING_H

#include "bcs/live/shared_posts.h"
#include "internode/communicator.h"

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

/* Between machines: aborts the job if ranks are in different calls (consistency.h) or the transport
 * has failed. An application thread aborts it, on its next call into the library. If an instance
 * has been outstanding for a second, all peers get messages of the library's own that show whether
 * they are still reachable. */

void sg_internode_check_health(struct sg_internode *internode);

/* Returns the first count of a communicator's instances: 0, or the value that a test sets by
 * STAGGER_COUNT_FROM. */

uint64_t sg_counts_first(void);
/* Initializes the counts of a new segment, as if all instances before the first had been left. */
void sg_counts_init(struct sg_internode *internode);

#endif
