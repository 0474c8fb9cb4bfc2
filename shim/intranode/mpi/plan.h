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

/* What a communicator's plans are made with and in. A program often makes the same call again: the
 * last one's plan is used again, if its operation and type are predefined, whose handles always
 * mean the same. */
struct sg_intranode_planner {
    struct sg_user_fold user;    /* of the call under way */
    enum sg_operation operation; /* of the last call; SG_OPERATION_COUNT: it is not used again */
    MPI_Op op;
    MPI_Datatype datatype;
    MPI_Count count;
    int root;
    struct sg_intranode_plan plan;
};

/* The planner's, until the communicator's next call. NULL: MPICH runs the call (by a decision that
 * is the same on all ranks, or an argument error of this rank's that MPICH will report). */
const struct sg_intranode_plan *sg_intranode_plan_call(const struct sg_node *node,
                                                       struct sg_intranode_planner *planner,
                                                       const struct sg_call *call);

#endif
