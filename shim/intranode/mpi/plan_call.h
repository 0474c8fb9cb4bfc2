/* From an MPI call to operands, kernel and shape, or to MPICH. In the application's thread. */
#ifndef SG_INTRANODE_MPI_PLAN_CALL_H
#define SG_INTRANODE_MPI_PLAN_CALL_H

#include "core/exchange.h"
#include "intranode/method.h"
#include "intranode/node.h"
#include "mpi/call.h"
#include "mpi/operands.h"

#include <stdbool.h>

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

/* The node's buffers for large operands (intranode/method.h): made in MPI_Init, on all ranks or on
 * none, if some rule may need them. Not under MPI_THREAD_MULTIPLE: two communicators' calls could
 * wait for each other's buffers; there large operands go through the communicator's own slots.
 */

/* Collective over the exchange (world ranks), after sg_memory_start. is_wanted: the same on all
 * ranks. If it is true and the buffers cannot be made, one line says so. */
enum sg_status sg_pool_start(const struct sg_exchange *exchange, bool is_wanted);
/* Alike on all ranks. */
bool sg_pool_is_there(void);
/* The buffers of a rank of this node; NULL: there are none. */
struct sg_pool_rank *sg_pool_of(int world_rank);

/* The line about a rank that does not come to a collective inside a node. */

/* What every rank is in, once an instance. */
void sg_intranode_report_stall(struct sg_node *node, const struct sg_call *call, int seconds);

#endif
