/* How a rank waits for other ranks: meanwhile its own progress, MPICH's and that of other
 * communicators continue, and a long wait is reported to the user.
 */
#ifndef SG_INTERNODE_CALL_WAITING_H
#define SG_INTERNODE_CALL_WAITING_H

#include "bcs/live/shared_posts.h"
#include "internode/communicator.h"

struct sg_internode_waiting {
    struct sg_wait wait;
    const struct sg_call *call;               /* NULL: it is for a message */
    uint64_t position;                        /* of the instance that is waited for */
    const struct sg_carried_message *message; /* NULL with no call: the wait is not reported */
};

/* A wait of this length is reported; 0: never. */
void sg_internode_stall_after(uint64_t ns);
/* Until is_over, which makes progress here, and may restart the time of *waiting. */
void sg_internode_wait(struct sg_internode *internode, struct sg_internode_waiting *waiting,
                       bool (*is_over)(void *context), void *context);

/* Between machines: what ends the job, and whether the peers are still there.
 *
 * The job ends if ranks are in different calls (consistency.h) or the transport has failed. A
 * thread of the application ends it, the next time that it is in the library. If an instance has
 * been outstanding for a second, all peers are told by messages of the library's own.
 */

void sg_internode_check_health(struct sg_internode *internode);

/* The number with which a communicator's counts of instances begin: 0, or what a test sets by
 * STAGGER_COUNT_FROM.
 */

uint64_t sg_counts_first(void);
/* In a new segment: as if all instances before the first had been left. */
void sg_counts_init(struct sg_internode *internode);

#endif
