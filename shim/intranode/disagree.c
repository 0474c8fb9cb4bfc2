/* Ranks whose calls at one position differ. Where errors are not fatal the call fails and the
 * program goes on, so all ranks have to reach their next call at one position.
 *
 * Calls that wait for nobody (a broadcast's root, a contribution to a reduce) have left, after as
 * many instances as their size takes, without noticing. Whoever notices leaves as many behind. A
 * broadcast's receiver takes what its root sends. Other calls wait until all ranks have come, as
 * they would have done in any case, so that all of them decide by the same facts.
 */
#include "intranode/node.h"
#include "intranode/ring.h"

/* A broadcast from the same root: the ranks wait for the root alone. */
static bool is_sibling(const struct sg_node_op *op, int rank)
{
    const struct sg_call_info *info = sg_node_call_info(op->node, op->position, rank);

    return op->call.operation == SG_OPERATION_BCAST && rank != op->call.root && info != NULL &&
           info->operation == SG_OPERATION_BCAST && info->root == op->call.root;
}

bool sg_node_disagrees(struct sg_node_op *op)
{
    if (op->state == SG_OP_START) /* others do not see this rank's call yet */
        return false;
    for (int rank = 0; rank < op->node->ranks && op->mismatch_rank < 0; rank++) {
        sg_op_sees(op, rank);
        if (op->mismatch_rank >= 0 && is_sibling(op, rank))
            op->mismatch_rank = -1;
    }
    return op->mismatch_rank >= 0;
}

/* ---- a broadcast's receiver ---- */

size_t sg_node_broadcast_bytes(const struct sg_node_op *op)
{
    const struct sg_call_info *root = sg_node_call_info(op->node, op->position, op->mismatch_rank);

    return op->call.operation == SG_OPERATION_BCAST && op->mismatch_rank == op->call.root &&
                   root != NULL && root->operation == SG_OPERATION_BCAST &&
                   root->root == op->call.root
               ? (size_t)root->bytes
               : 0;
}

/* This rank's line stays as it is: the root leaves a rank that differs from it alone. */
void sg_node_conform(struct sg_node_op *op, void *buffer)
{
    const struct sg_call_info *root = sg_node_call_info(op->node, op->position, op->call.root);

    op->call.method = (enum sg_node_method)root->method;
    op->call.receive = buffer;
    op->call.count = (size_t)root->bytes;
    op->call.element_bytes = 1;
    op->signature = sg_op_signature(&op->call);
    op->mismatch_rank = -1;
    op->state = SG_OP_ARRIVED;
    op->chunk_count = op->call.count;
    if (op->call.method == SG_NODE_PULL)
        sg_stage_begin(op);
    else if (op->chunk_count > op->node->slot_bytes)
        op->chunk_count = op->node->slot_bytes;
}

/* ---- other calls ---- */

/* Elements fill slots without a rest. */
static uint64_t instances_of(const struct sg_node *node, const struct sg_call_info *info)
{
    bool whole = info->method == SG_NODE_CHUNKS || info->method == SG_NODE_SINGLE;

    return whole || info->bytes <= node->slot_bytes
               ? 1
               : (info->bytes + node->slot_bytes - 1) / node->slot_bytes;
}

/* Does not wait for all ranks. */
static bool goes_on(const struct sg_call_info *info, int rank)
{
    return info->operation == SG_OPERATION_BCAST ||
           (info->operation == SG_OPERATION_REDUCE && info->root != rank);
}

bool sg_node_have_come(const struct sg_node_op *op)
{
    const struct sg_node *node = op->node;

    if (goes_on(sg_node_call_info(node, op->position, node->rank), node->rank))
        return true;
    for (int rank = 0; rank < node->ranks; rank++) {
        if (sg_node_call_info(node, op->position, rank) == NULL)
            return false;
    }
    return true;
}

/* Those that go on decide, and have to agree; else the shortest call. 0: there is none. */
static uint64_t common_instances(const struct sg_node_op *op)
{
    const struct sg_node *node = op->node;
    uint64_t least = UINT64_MAX, fixed = 0;

    for (int rank = 0; rank < node->ranks; rank++) {
        const struct sg_call_info *info = sg_node_call_info(node, op->position, rank);
        uint64_t instances = instances_of(node, info);

        /* Its readers count what they have read. */
        if (info->method == SG_NODE_PULL)
            return 0;
        if (goes_on(info, rank)) {
            if (fixed != 0 && fixed != instances)
                return 0;
            fixed = instances;
        }
        least = instances < least ? instances : least;
    }
    return fixed != 0 ? fixed : least;
}

bool sg_node_step_over(struct sg_node_op *op)
{
    struct sg_node *node = op->node;
    const struct sg_call_info *own = sg_node_call_info(node, op->position, node->rank);
    uint64_t instances;

    if (op->done_count > 0)
        return false;
    instances = goes_on(own, node->rank) ? instances_of(node, own) : common_instances(op);
    if (instances == 0 || own->method == SG_NODE_PULL)
        return false;
    for (; instances > 0; instances--)
        sg_node_skip(node);
    return true;
}

/* ---- a call that failed on this rank alone ---- */

const struct sg_call_info *sg_node_others_call(const struct sg_node *node, bool *all_look)
{
    const struct sg_call_info *found = NULL;
    int others = 0;

    for (int rank = 0; rank < node->ranks && found == NULL; rank++) {
        if (rank == node->rank)
            continue;
        found = sg_node_call_info(node, node->position, rank);
        /* Relaxed: a rank that is missed is seen at the next look. */
        others += atomic_load_explicit(&sg_ring_control(node, rank)->unmet, memory_order_relaxed) ==
                  node->position + 1;
    }
    *all_look = found == NULL && others == node->ranks - 1;
    return found;
}
