/* How a rank waits for other ranks: meanwhile its own progress, MPICH's and that of other
 * communicators continue, and a long wait is reported to the user.
 */
#ifndef SG_INTERNODE_WAITING_H
#define SG_INTERNODE_WAITING_H

#include "internode/carried_message.h"
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

#endif
