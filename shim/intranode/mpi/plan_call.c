/* All ranks decide in the same way about the operation and its type (derived types, and pairs that
 * MPI does not allow, go to MPICH) and about count 0. Argument errors may occur on this rank alone;
 * MPICH then reports them, and the other ranks do not learn of them, as without stagger. */
#include "intranode/mpi/plan_call.h"

#include "intranode/memory.h"
#include "intranode/ring.h"
#include "mpi/real.h"
#include "mpi/types.h"
#include "mpi/user_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the shape in which stock MPICH 4.0.2 would fold (shim/algos/tree.h). */
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

/* A broadcast moves bytes, whatever the ranks' types are. */
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

/* Finds this rank's operand and result. */
static bool plan_buffers(const struct sg_node *node, const struct sg_call *call,
                         struct sg_intranode_plan *plan)
{
    return call->operation == SG_OPERATION_BARRIER ||
           sg_buffers_of(call, node->rank, &plan->own, &plan->result);
}

/* Plans everything except the buffers; not for a broadcast. */
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

/* Keeps the arguments that is_last compares. */
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

static struct sg_pool_rank *pool; /* this node's, by rank in the node; NULL: none */
static int own_rank;

/* Returns a rank's number among those of its node. */
static int number_of(int world_rank)
{
    int node = sg_placement_node(world_rank);
    int number = 0;

    for (int other = node; other < world_rank; other++)
        number += sg_placement_node(other) == node;
    return number;
}

static bool can_have_pool(const struct sg_exchange *exchange)
{
    int level = MPI_THREAD_MULTIPLE;

    sg_real.Query_thread(&level);
    return level != MPI_THREAD_MULTIPLE &&
           sg_placement_node_size(sg_placement_node(exchange->rank), exchange->size) > 1;
}

enum sg_status sg_pool_start(const struct sg_exchange *exchange, bool is_wanted)
{
    int node = sg_placement_node(exchange->rank);
    void *segment = NULL;
    int first;
    enum sg_status status;

    own_rank = exchange->rank;
    if (!is_wanted || !sg_memory_is_shared())
        return SG_OK;
    status = sg_exchange_agree(exchange, can_have_pool(exchange), &first);
    if (status != SG_OK || first >= 0)
        return status;
    status = sg_memory_map(exchange, node,
                           (size_t)sg_placement_node_size(node, exchange->size) * sizeof *pool,
                           "large operands", &segment, &first);
    if (status == SG_OK)
        pool = segment;
    if (status == SG_ERR_MISSING && first == exchange->rank && errno != 0)
        sg_log("rank %d: no shared buffers for large messages (%m): using small ones",
               exchange->rank);
    return status == SG_ERR_MISSING ? SG_OK : status;
}

bool sg_pool_is_there(void)
{
    return pool != NULL;
}

struct sg_pool_rank *sg_pool_of(int world_rank)
{
    if (pool == NULL || sg_placement_node(world_rank) != sg_placement_node(own_rank))
        return NULL;
    return &pool[number_of(world_rank)];
}

#define RANKS_NAMED 16

/* Describes another rank's state: in this instance, in another, or in none. */
static void describe_rank(const struct sg_node *node, uint64_t position, int rank,
                          char text[SG_REPORT_CALL_BYTES])
{
    uint64_t left = sg_ring_left(node, rank);
    const struct sg_call_info *info = sg_node_call_info(node, left, rank);

    if (info != NULL)
        sg_report_call(info, text);
    else if (left <= position)
        snprintf(text, SG_REPORT_CALL_BYTES, "in no collective of this communicator");
    else
        snprintf(text, SG_REPORT_CALL_BYTES, "ahead of it");
}

/* Reports the missing rank, or one that is elsewhere: one rank reports, once for each instance. */
void sg_intranode_report_stall(struct sg_node *node, const struct sg_call *call, int seconds)
{
    uint64_t position = node->position;
    uint64_t tag = sg_ring_tag(position, 0);
    char text[SG_REPORT_CALL_BYTES];
    size_t all_bytes = (1 + RANKS_NAMED) * (SG_REPORT_CALL_BYTES + 16);
    char *all; /* all lines of the report */
    int used;

    if (atomic_exchange(&node->header->stall_reported, tag) == tag ||
        (all = malloc(all_bytes)) == NULL)
        return;
    used =
        snprintf(all, all_bytes, "waiting for more than %d s in %s, %s:", seconds,
                 sg_report_function(call), sg_report_instance(call, position, node->ranks, text));
    sg_log("%s", all);
    for (int rank = 0; rank < node->ranks && rank < RANKS_NAMED; rank++) {
        describe_rank(node, position, rank, text);
        sg_log("  rank %d: %s", rank, text);
        used += snprintf(all + used, all_bytes - (size_t)used, " rank %d: %s;", rank, text);
    }
    all[used - 1] = '\0';
    sg_trace_event_line(SG_TRACE_LINE_STALL, all);
    free(all);
}
