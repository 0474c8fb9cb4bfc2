/* Groups (docs/decisions/03): a group is a set of ranks adjacent in the shape, so
 * it is a subtree, and exchanges through its first rank. That rank folds the group's operands and
 * publishes the partial result to the other groups' first ranks; each of these folds all partial
 * results, and publishes the result to its group. With G groups of R ranks, a line has at most G +
 * R readers, and crosses from one cluster of cores to another once.
 *
 * In a reduce the root alone folds the partial results; a rank that is neither root nor first of a
 * group leaves at once.
 *
 * A group uses two of the instance's words: those of the meetings at its first leaf (nobody climbs
 * here) and the leaf after it. The first publishes the group's partial result, the second the
 * result for its ranks. Operands that fit are in the word's line.
 */
#include "intranode/ring.h"

#include <string.h>

#define CARRIED_BYTES 48

/* A published result; its data are written before the word. */
struct telling {
    _Atomic uint64_t word;
    uint32_t signature;
    uint32_t reserved;
    unsigned char payload[CARRIED_BYTES];
};
_Static_assert(sizeof(struct telling) == sizeof(struct sg_node_word), "telling");

static struct telling *telling_at(const struct sg_node_op *op, int leaf)
{
    _Atomic uint64_t *word = leaf == 0 ? sg_ring_release(op->node, op->position)
                                       : sg_ring_meeting(op->node, op->position, leaf);

    return (struct telling *)(void *)word;
}

static int first_leaf(const struct sg_node_op *op, int group)
{
    int first, end;

    sg_shape_group(&op->call.shape, &op->groups, group, &first, &end);
    return first;
}

static int first_rank(const struct sg_node_op *op, int group)
{
    return sg_shape_leaf(&op->call.shape, first_leaf(op, group));
}

/* The group's partial result, and the result for its ranks. A large result goes to the slot of the
 * group's second rank, whose operand has been folded by then. */
static void *partial_of(const struct sg_node_op *op, int group)
{
    if (sg_op_chunk_bytes(op) <= CARRIED_BYTES)
        return telling_at(op, first_leaf(op, group))->payload;
    return sg_ring_data(op->node, op->position, first_rank(op, group), sg_op_chunk_bytes(op));
}

static void *result_of(const struct sg_node_op *op)
{
    if (sg_op_chunk_bytes(op) <= CARRIED_BYTES)
        return telling_at(op, op->group_first + 1)->payload;
    return sg_ring_data(op->node, op->position, sg_shape_leaf(&op->call.shape, op->group_first + 1),
                        sg_op_chunk_bytes(op));
}

static void tell(const struct sg_node_op *op, struct telling *telling)
{
    telling->signature = op->signature;
    /* Release: the published data come before. */
    atomic_store_explicit(&telling->word, sg_ring_tag(op->position, (uint32_t)op->node->rank),
                          memory_order_release);
}

static bool is_told(struct sg_node_op *op, struct telling *telling)
{
    /* Acquire: pairs with tell. */
    uint64_t word = atomic_load_explicit(&telling->word, memory_order_acquire);

    if (!sg_ring_is(word, op->position))
        return false;
    if (telling->signature != op->signature)
        op->mismatch_rank = (int)sg_ring_value(word);
    return true;
}

/* ---- own group ------------------------------------------------------------------------------- */

static bool leads(const struct sg_node_op *op)
{
    return op->node->rank == sg_shape_leaf(&op->call.shape, op->group_first);
}

/* True if the rank needs the result, and folds it from the partial results of all groups. */
static bool folds_groups(const struct sg_node_op *op)
{
    return op->call.operation == SG_OPERATION_REDUCE ? op->node->rank == op->call.root : leads(op);
}

static const void *operand_of(void *context, int leaf)
{
    const struct sg_node_op *op = context;
    int rank = sg_shape_leaf(&op->call.shape, leaf);

    if (rank == op->node->rank)
        return sg_op_own(op);
    return sg_ring_data(op->node, op->position, rank, sg_op_chunk_bytes(op));
}

static void enter(struct sg_node_op *op)
{
    size_t size_bytes = sg_op_chunk_bytes(op);
    const struct sg_shape *shape = &op->call.shape;
    int leaf = sg_shape_leaf_of(shape, op->node->rank);

    /* There are always at least two groups. */
    op->groups =
        sg_shape_groups(shape, op->call.group < shape->size ? op->call.group : shape->size - 1);
    op->group_first = 0;
    for (op->group = 0;; op->group++) {
        sg_shape_group(shape, &op->groups, op->group, &op->group_first, &op->group_end);
        if (leaf < op->group_end)
            break;
    }
    if (size_bytes > 0 && !leads(op)) {
        memcpy(sg_ring_data(op->node, op->position, op->node->rank, size_bytes), sg_op_own(op),
               size_bytes);
        op->copies++;
    }
    sg_op_publish(op);
    op->state = SG_OP_ARRIVED;
    op->seen_ranks = 0;
}

/* Counts a rank that arrived before this one, and an operand folded after its owner has left. */
static void count_arrival(struct sg_node_op *op, int rank)
{
    if (op->call.arrival_ns == 0)
        return;
    op->early += sg_ring_line(op->node, op->position, rank)->arrival_ns < op->call.arrival_ns;
    op->late +=
        op->call.operation == SG_OPERATION_REDUCE && sg_ring_left(op->node, rank) > op->position;
}

static bool sees_group(struct sg_node_op *op)
{
    for (int leaf = op->group_first + 1 + op->seen_ranks; leaf < op->group_end; leaf++) {
        int rank = sg_shape_leaf(&op->call.shape, leaf);

        if (!sg_op_sees(op, rank) || op->mismatch_rank >= 0)
            return false;
        count_arrival(op, rank);
        op->seen_ranks++;
    }
    op->seen_ranks = 0;
    return true;
}

static void fold_group(struct sg_node_op *op)
{
    struct sg_folding folding = sg_op_folding(op, operand_of, op);
    const struct sg_fold_part part = {0, op->group_first, op->group_end, op->groups.level};
    size_t size_bytes = sg_op_chunk_bytes(op);

    if (size_bytes == 0)
        return;
    if (op->group_end - op->group_first == 1) {
        memcpy(partial_of(op, op->group), sg_op_own(op), size_bytes);
        op->copies++;
    } else {
        sg_fold_part(&folding, &part, op->chunk_count, partial_of(op, op->group));
    }
}

/* ---- all groups ------------------------------------------------------------------------------*/

static const void *partial_operand(void *context, int group)
{
    return partial_of(context, group);
}

static bool sees_groups(struct sg_node_op *op)
{
    while (op->seen_ranks < op->groups.count) {
        if (!is_told(op, telling_at(op, first_leaf(op, op->seen_ranks))) || op->mismatch_rank >= 0)
            return false;
        op->seen_ranks++;
    }
    op->seen_ranks = 0;
    return true;
}

/* Folds into the rank's own buffer, or first into the memory from which the group takes the result.
 */
static void fold_groups(struct sg_node_op *op)
{
    struct sg_folding folding = sg_op_folding(op, partial_operand, op);
    const struct sg_fold_part part = {op->groups.level, 0, op->groups.count, SG_FOLD_TO_TOP};
    bool tells = op->call.operation != SG_OPERATION_REDUCE && op->group_end - op->group_first > 1;
    bool has_data = sg_op_chunk_bytes(op) > 0;
    void *out = NULL;

    if (has_data) {
        out = tells ? result_of(op) : sg_op_target(op);
        sg_fold_part(&folding, &part, op->chunk_count, out);
    }
    if (!tells)
        return;
    tell(op, telling_at(op, op->group_first + 1));
    if (has_data)
        sg_op_deliver(op, sg_op_target(op), out, op->chunk_count);
}

static enum sg_node_step take_result(struct sg_node_op *op)
{
    if (!is_told(op, telling_at(op, op->group_first + 1)))
        return SG_NODE_WAIT;
    if (sg_op_chunk_bytes(op) > 0) {
        sg_op_deliver(op, sg_op_target(op), result_of(op), op->chunk_count);
        op->copies++;
    }
    return SG_NODE_DONE;
}

enum sg_node_step sg_groups_poll(struct sg_node_op *op)
{
    if (op->state == SG_OP_START)
        enter(op);
    if (op->state == SG_OP_ARRIVED) {
        if (leads(op)) {
            if (!sees_group(op))
                return SG_NODE_WAIT;
            fold_group(op);
            tell(op, telling_at(op, op->group_first));
        }
        op->state = SG_OP_FOLDED;
    }
    if (folds_groups(op)) {
        if (!sees_groups(op))
            return SG_NODE_WAIT;
        fold_groups(op);
        return SG_NODE_DONE;
    }
    return op->call.operation == SG_OPERATION_REDUCE ? SG_NODE_DONE : take_result(op);
}
