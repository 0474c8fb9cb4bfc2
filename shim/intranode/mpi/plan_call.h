/* Plans an MPI call as operands, kernel and shape, or leaves it to MPICH. Also the node's buffers
 * for large operands, and the report of a rank that does not come. In the application's thread. */
#ifndef SG_INTRANODE_MPI_PLAN_CALL_H
#define SG_INTRANODE_MPI_PLAN_CALL_H

#include "core/exchange.h"
#include "intranode/method.h"
#include "intranode/node.h"
#include "mpi/call.h"
#include "mpi/operands.h"

#include <stdbool.h>

/* An algorithm's input for one call. */
struct sg_intranode_plan {
    struct sg_shape shape;
    size_t count;
    size_t element_bytes; /* extent */
    size_t size_bytes;    /* bytes of the whole operand */
    sg_copy copy;         /* NULL: elements have no holes */
    sg_node_fold fold;
    void *fold_context;
    const void *own; /* this rank's contribution */
    void *result;    /* NULL: this rank gets none */
};

/* A communicator's state for plans. A program often makes the same call again: the last call's plan
 * is reused if its operation and type are predefined, because their handles always mean the same.
 */
struct sg_intranode_planner {
    struct sg_user_fold user;    /* of the call in progress */
    enum sg_operation operation; /* of the last call; SG_OPERATION_COUNT: not reusable */
    MPI_Op op;
    MPI_Datatype datatype;
    MPI_Count count;
    int root;
    struct sg_intranode_plan plan;
};

/* The planner owns the plan until the communicator's next call. NULL: MPICH runs the call (by a
 * decision that is the same on all ranks, or an argument error on this rank that MPICH will
 * report). */
const struct sg_intranode_plan *sg_intranode_plan_call(const struct sg_node *node,
                                                       struct sg_intranode_planner *planner,
                                                       const struct sg_call *call);

/* The node's buffers for large operands (intranode/method.h): made in MPI_Init, on all ranks or on
 * none, if some rule may need them. Not under MPI_THREAD_MULTIPLE: two communicators' calls could
 * wait for each other's buffers; large operands then go through the communicator's own slots. */

/* Collective over the exchange (world ranks), after sg_memory_start. is_wanted: the same on all
 * ranks. If it is true and the buffers cannot be made, one line reports it. */
enum sg_status sg_pool_start(const struct sg_exchange *exchange, bool is_wanted);
/* Identical on all ranks. */
bool sg_pool_is_there(void);
/* Returns the buffers of a rank of this node; NULL: none. */
struct sg_pool_rank *sg_pool_of(int world_rank);

/* ---- report of a rank that does not come to a collective inside a node ---- */

/* Reports each rank's state, once for each instance. */
void sg_intranode_report_stall(struct sg_node *node, const struct sg_call *call, int seconds);

#endif
