/* All ranks decide in the same way about the operation and its type (derived types, and pairs that
 * MPI does not allow, go to MPICH) and about count 0. Argument errors may be this rank's alone;
 * MPICH then reports them, and the other ranks do not learn of them, as without stagger.
 */
#include "intranode/mpi/plan.h"

#include "mpi/types.h"

#include <string.h>

/* The shape in which stock MPICH 4.0.2 would fold (shim/algos/shape.h). */
static struct sg_shape shape_of(const struct sg_call *call, int ranks, bool predefined)
{
    struct sg_shape_reduce reduce = {.ranks = ranks,
                                     .root = call->root,
                                     .count = (uint64_t)call->count,
                                     .bytes = call->bytes,
                                     .predefined = predefined,
                                     .commutative = true};

    if (call->operation != SG_OPERATION_REDUCE)
        return (struct sg_shape){SG_SHAPE_DOUBLING, ranks, 0};
    if (!predefined)
        reduce.commutative = sg_operation_is_commutative(call->op);
    return sg_shape_of_reduce(&reduce);
}

/* Bytes, whatever their types are. */
static bool plan_broadcast(const struct sg_node *node, const struct sg_call *call,
                           struct sg_intranode_plan *plan)
{
    if (call->bytes == 0 || call->receive == NULL || call->root < 0 || call->root >= node->ranks)
        return false;
    plan->count = plan->size_bytes = (size_t)call->bytes;
    plan->element_bytes = 1;
    plan->own = plan->result = call->receive;
    return true;
}

/* Where this rank's operand is, and where its result goes. */
static bool plan_buffers(const struct sg_node *node, const struct sg_call *call,
                         struct sg_intranode_plan *plan)
{
    return call->operation == SG_OPERATION_BARRIER ||
           sg_buffers_of(call, node->rank, &plan->own, &plan->result);
}

/* All but the buffers; not for a broadcast. */
static bool plan_operands(const struct sg_node *node, struct sg_user_fold *user,
                          const struct sg_call *call, struct sg_intranode_plan *plan)
{
    struct sg_operands operands;
    enum sg_element element;
    bool predefined = sg_operation_is_predefined(call->op);

    if (call->operation == SG_OPERATION_BARRIER) {
        plan->shape = shape_of(call, node->ranks, true);
        return true;
    }
    if (call->count <= 0 || (!predefined && !sg_operation_is_users(call->op)) ||
        !sg_type_of(call->datatype, &element))
        return false;
    if (call->operation == SG_OPERATION_REDUCE && (call->root < 0 || call->root >= node->ranks))
        return false;
    plan->element_bytes = sg_element_extent_bytes(element);
    plan->count = (size_t)call->count;
    plan->size_bytes = plan->count * plan->element_bytes;
    plan->copy = sg_copy_find(element);
    if (predefined) {
        if (!sg_operands_of(call, &operands))
            return false;
        plan->fold = sg_operands_fold;
        plan->fold_context = sg_operands_fold_context(&operands);
    } else {
        user->op = call->op;
        user->datatype = call->datatype;
        user->extent_bytes = plan->element_bytes;
        user->copy = plan->copy;
        plan->fold = sg_user_fold;
        plan->fold_context = user;
    }
    plan->shape = shape_of(call, node->ranks, predefined);
    return true;
}

static bool is_last(const struct sg_intranode_planner *planner, const struct sg_call *call)
{
    return planner->operation == call->operation && planner->op == call->op &&
           planner->datatype == call->datatype && planner->count == call->count &&
           planner->root == call->root;
}

/* What is_last compares. */
static void keep(struct sg_intranode_planner *planner, const struct sg_call *call)
{
    bool always_the_same =
        call->operation == SG_OPERATION_BARRIER ||
        (sg_operation_is_predefined(call->op) && sg_type_is_builtin(call->datatype));

    planner->operation = always_the_same ? call->operation : SG_OPERATION_COUNT;
    planner->op = call->op;
    planner->datatype = call->datatype;
    planner->count = call->count;
    planner->root = call->root;
}

const struct sg_intranode_plan *sg_intranode_plan_call(const struct sg_node *node,
                                                       struct sg_intranode_planner *planner,
                                                       const struct sg_call *call)
{
    struct sg_intranode_plan *plan = &planner->plan;

    if (!is_last(planner, call)) {
        planner->operation = SG_OPERATION_COUNT;
        memset(plan, 0, sizeof *plan);
        if (call->operation == SG_OPERATION_BCAST)
            return plan_broadcast(node, call, plan) ? plan : NULL;
        if (!plan_operands(node, &planner->user, call, plan))
            return NULL;
        keep(planner, call);
    }
    return plan_buffers(node, call, plan) ? plan : NULL;
}
