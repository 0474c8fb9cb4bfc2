/* Groups (docs/decisions/03): a group is a set of ranks adjacent in the shape, so it is a subtree,
 * and exchanges through its first rank. That rank folds the group's operands and publishes the
 * partial result. First ranks may form groups in turn (struct sg_nest, algos/tree.h). Those of the
 * last level read each other's partial results; each folds all of them and publishes the result to
 * its members, whose first ranks pass it on. So a line crosses to another part of the machine once
 * a group of that part's size.
 *
 * In a reduce the root alone folds the partial results of the last level; a rank that is neither
 * root nor first of a group leaves at once.
 *
 * Each level has a word for each leaf (nobody climbs here). A group's first leaf has the one with
 * its partial result, the next leaf the one with the result for its members. Operands that fit are
 * in the word's line. A group of one member is that member: it uses no words of its own.
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

static struct telling *telling_at(const struct sg_node_op *op, int level, int leaf)
{
    _Atomic uint64_t *word;

    if (level > 0)
        word = sg_ring_outer(op->node, op->position, leaf);
    else if (leaf == 0)
        word = sg_ring_release(op->node, op->position);
    else
        word = sg_ring_meeting(op->node, op->position, leaf);
    return (struct telling *)(void *)word;
}

static struct sg_nest_group group_at(const struct sg_node_op *op, int level, int leaf)
{
    return sg_nest_at(&op->call.shape, &op->nest, level, leaf);
}

static bool is_alone(const struct sg_nest_group *group)
{
    return group->high - group->low == 1;
}

static void *slot_of(const struct sg_node_op *op, int leaf)
{
    return sg_ring_data(op->node, op->position, sg_shape_leaf(&op->call.shape, leaf),
                        sg_op_chunk_bytes(op));
}

/* Finds the level at which the group with that first leaf has more than one member. */
static int partial_level(const struct sg_node_op *op, int level, int first)
{
    for (; level > 0; level--) {
        struct sg_nest_group group = group_at(op, level, first);

        if (!is_alone(&group))
            break;
    }
    return level;
}

static struct telling *partial_telling(const struct sg_node_op *op, int level, int first)
{
    return telling_at(op, partial_level(op, level, first), first);
}

/* A group's partial result. A large one is in a slot that nobody needs any more: its first rank's,
 * which published no operand, or, if that holds its first member's, the second member's. */
static void *partial_of(const struct sg_node_op *op, int level, int first)
{
    struct sg_nest_group group;

    level = partial_level(op, level, first);
    if (sg_op_chunk_bytes(op) <= CARRIED_BYTES)
        return telling_at(op, level, first)->payload;
    if (level == 0)
        return slot_of(op, first);
    group = group_at(op, level, first);
    return slot_of(op, sg_nest_member(&op->call.shape, &op->nest, level, group.low + 1));
}

/* The result for a group's members. A large one is in the slot of a group's second rank, whose
 * operand has been folded, or of an outer group's first, whose partial result has. */
static void *result_of(const struct sg_node_op *op, int level)
{
    int first = op->groups[level].first;

    if (sg_op_chunk_bytes(op) <= CARRIED_BYTES)
        return telling_at(op, level, first + 1)->payload;
    return slot_of(op, level == 0 ? first + 1 : first);
}

static void tell(struct sg_node_op *op, struct telling *telling)
{
    telling->signature = op->signature;
    /* Release: the published data come before. */
    atomic_store_explicit(&telling->word, sg_ring_tag(op->position, (uint32_t)op->node->rank),
                          memory_order_release);
    op->told |= SG_TOLD;
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

/* ---- up: the groups that the rank leads ------------------------------------------------------ */

/* True if the rank needs the result, and folds it from the partial results of the last level. */
static bool folds_all(const struct sg_node_op *op)
{
    return op->call.operation == SG_OPERATION_REDUCE ? op->node->rank == op->call.root
                                                     : op->leads == op->nest.levels;
}

static void enter(struct sg_node_op *op)
{
    size_t size_bytes = sg_op_chunk_bytes(op);
    const struct sg_shape *shape = &op->call.shape;
    int leaf = sg_shape_leaf_of(shape, op->node->rank);

    op->nest = sg_nest_of(shape, &op->call.sizes);
    op->leads = sg_nest_leads(shape, &op->nest, leaf);
    for (op->level = 0; op->level < op->nest.levels; op->level++)
        op->groups[op->level] = group_at(op, op->level, leaf);
    op->level = 0;
    if (size_bytes > 0 && op->leads == 0) {
        memcpy(sg_ring_data(op->node, op->position, op->node->rank, size_bytes), sg_op_own(op),
               size_bytes);
        op->copies++;
    }
    sg_op_publish(op, SG_TOLD);
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

static bool sees_rank(struct sg_node_op *op, int leaf)
{
    int rank = sg_shape_leaf(&op->call.shape, leaf);

    if (rank == op->node->rank)
        return true;
    if (!sg_op_sees(op, rank) || op->mismatch_rank >= 0)
        return false;
    count_arrival(op, rank);
    return true;
}

/* True if all members of a group have published their operand, or partial result. */
static bool sees_members(struct sg_node_op *op, int level, const struct sg_nest_group *group)
{
    for (int member = group->low + op->seen_ranks; member < group->high; member++) {
        int first = sg_nest_member(&op->call.shape, &op->nest, level, member);

        if (level == 0
                ? !sees_rank(op, first)
                : !is_told(op, partial_telling(op, level - 1, first)) || op->mismatch_rank >= 0)
            return false;
        op->seen_ranks++;
    }
    op->seen_ranks = 0;
    return true;
}

static const void *operand_of(void *context, int leaf)
{
    const struct sg_node_op *op = context;

    if (sg_shape_leaf(&op->call.shape, leaf) == op->node->rank)
        return sg_op_own(op);
    return slot_of(op, leaf);
}

static const void *partial_operand(void *context, int member)
{
    const struct sg_node_op *op = context;

    return partial_of(op, op->level - 1,
                      sg_nest_member(&op->call.shape, &op->nest, op->level, member));
}

/* Folds the members of a group of op->level. */
static void fold_members(struct sg_node_op *op, const struct sg_nest_group *group, void *out)
{
    int level = op->level,
        top = level < op->nest.levels ? op->nest.of[level].level : SG_FOLD_TO_TOP;
    struct sg_folding folding = sg_op_folding(op, level == 0 ? operand_of : partial_operand, op);
    const struct sg_fold_part part = {level == 0 ? 0 : op->nest.of[level - 1].level, group->low,
                                      group->high, top};

    sg_fold_part(&folding, &part, op->chunk_count, out);
}

/* Publishes the partial result of the group that the rank leads at op->level. */
static void publish_partial(struct sg_node_op *op)
{
    const struct sg_nest_group *group = &op->groups[op->level];
    void *out = partial_of(op, op->level, group->first);

    if (op->level > 0 && is_alone(group))
        return;
    if (sg_op_chunk_bytes(op) > 0) {
        if (is_alone(group)) {
            memcpy(out, sg_op_own(op), sg_op_chunk_bytes(op));
            op->copies++;
        } else {
            fold_members(op, group, out);
        }
    }
    tell(op, telling_at(op, op->level, group->first));
}

/* ---- down ------------------------------------------------------------------------------------*/

/* Passes the result, which is at `from`, to the members of the groups that the rank leads below a
 * level, and to the user. from NULL: no data. */
static void pass_down(struct sg_node_op *op, int level, const void *from)
{
    while (level-- > 0) {
        if (is_alone(&op->groups[level]))
            continue;
        if (from != NULL && from != result_of(op, level))
            memcpy(result_of(op, level), from, sg_op_chunk_bytes(op));
        tell(op, telling_at(op, level, op->groups[level].first + 1));
    }
    if (from != NULL && from != sg_op_target(op))
        sg_op_deliver(op, sg_op_target(op), from, op->chunk_count);
}

/* Folds the partial results of the last level into the rank's own buffer, or first into the memory
 * from which members take the result. */
static void fold_all(struct sg_node_op *op)
{
    struct sg_nest_group all = group_at(op, op->nest.levels, 0);
    int tells = op->call.operation == SG_OPERATION_REDUCE ? 0 : op->leads;
    int first = tells;
    void *out = NULL;

    op->level = op->nest.levels;
    while (first > 0 && is_alone(&op->groups[first - 1]))
        first--;
    if (sg_op_chunk_bytes(op) > 0) {
        out = first > 0 ? result_of(op, first - 1) : sg_op_target(op);
        fold_members(op, &all, out);
    }
    pass_down(op, tells, out);
}

static enum sg_node_step take_result(struct sg_node_op *op)
{
    int level = op->leads;
    bool has_data = sg_op_chunk_bytes(op) > 0;

    if (!is_told(op, telling_at(op, level, op->groups[level].first + 1)))
        return SG_NODE_WAIT;
    pass_down(op, level, has_data ? result_of(op, level) : NULL);
    op->copies += has_data;
    return SG_NODE_DONE;
}

enum sg_node_step sg_groups_poll(struct sg_node_op *op)
{
    struct sg_nest_group all;

    if (op->state == SG_OP_START)
        enter(op);
    if (op->state == SG_OP_ARRIVED) {
        for (; op->level < op->leads; op->level++) {
            if (!sees_members(op, op->level, &op->groups[op->level]))
                return SG_NODE_WAIT;
            publish_partial(op);
        }
        op->state = SG_OP_FOLDED;
    }
    if (!folds_all(op))
        return op->call.operation == SG_OPERATION_REDUCE ? SG_NODE_DONE : take_result(op);
    all = group_at(op, op->nest.levels, 0);
    if (!sees_members(op, op->nest.levels, &all))
        return SG_NODE_WAIT;
    fold_all(op);
    return SG_NODE_DONE;
}
