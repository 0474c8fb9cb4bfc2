/* From an MPI call to operands, kernel and shape, or to MPICH. In the application's thread. */
#ifndef SG_INTRANODE_MPI_PLAN_H
#define SG_INTRANODE_MPI_PLAN_H

#include "intranode/node.h"
#include "mpi/operands.h"

/* What an algorithm's runner is to do with a call. */
struct sg_intranode_plan {
    struct sg_shape shape;
    size_t count;
    size_t element_bytes; /* extent */
    size_t size_bytes;    /* of the whole operand */
    sg_copy copy;         /* NULL: elements have no holes */
    sg_node_fold fold;
    void *fold_context;
    const void *own; /* this rank's contribution */
    void *result;    /* NULL: gets none */
};

/* user: the plan keeps it until the call has run. False: MPICH runs the call (by a decision that is
 * the same on all ranks, or an argument error of this rank's that MPICH will report). */
bool sg_intranode_plan_call(const struct sg_node *node, struct sg_user_fold *user,
                            const struct sg_call *call, struct sg_intranode_plan *plan);

#endif
