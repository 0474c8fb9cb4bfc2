/* How a rank waits for other ranks: its own progress, MPICH's and that of other communicators go on
 * meanwhile, and a wait that lasts is reported to the user.
 */
#ifndef SG_INTERNODE_WAITING_H
#define SG_INTERNODE_WAITING_H

#include "internode/communicator.h"

struct sg_internode_waiting {
    struct sg_wait wait;
    const struct sg_call *call; /* NULL: the wait is not reported */
    uint64_t position;          /* of the instance that is waited for */
};

/* After so long a wait is reported; 0: never. */
void sg_internode_stall_after(uint64_t ns);

/* Until is_over, which makes progress here, and may begin the time of *waiting anew. */
void sg_internode_wait(struct sg_internode *internode, struct sg_internode_waiting *waiting,
                       bool (*is_over)(void *context), void *context);

#endif
