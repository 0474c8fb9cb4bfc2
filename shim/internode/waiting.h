/* How a rank waits for other ranks: meanwhile its own progress, MPICH's and that of other
 * communicators continue, and a long wait is reported to the user.
 */
#ifndef SG_INTERNODE_WAITING_H
#define SG_INTERNODE_WAITING_H

#include "internode/communicator.h"

struct sg_internode_waiting {
    struct sg_wait wait;
    const struct sg_call *call; /* NULL: the wait is not reported */
    uint64_t position;          /* of the instance that is waited for */
};

/* A wait of this length is reported; 0: never. */
void sg_internode_stall_after(uint64_t ns);

/* Until is_over, which makes progress here, and may restart the time of *waiting. */
void sg_internode_wait(struct sg_internode *internode, struct sg_internode_waiting *waiting,
                       bool (*is_over)(void *context), void *context);

#endif
