/* Handoff: a tree of fixed shape, climbed by late ranks. At each meeting the first arriver leaves
 * its operand and goes on (reduce) or waits for the release; the second folds left (op) right and
 * climbs on. So the result is that of the shape, while no rank ever waits for a helper.
 *
 * A meeting is one word: the first arriver exchanges its rank into it; a rank that finds another
 * one there is the second, and often needs no atomic operation. The partial result of a climbing
 * rank is in its own slot.
 */
#include "intranode/ring.h"

#include <string.h>

/* This rank's partial result of the chunk so far. */
static const void *partial_of(const struct sg_node_op *op, size_t size_bytes)
{
    return op->own_in_slot ? sg_ring_data(op->node, op->position, op->node->rank, size_bytes)
                           : sg_op_own(op);
}

static void store_own(struct sg_node_op *op, size_t size_bytes)
{
    if (op->own_in_slot)
        return;
    if (size_bytes > 0) {
        memcpy(sg_ring_data(op->node, op->position, op->node->rank, size_bytes), sg_op_own(op),
               size_bytes);
        op->copies++;
    }
    op->own_in_slot = true;
}

/* True when the partner is there, with the rank in whose slot its partial result is; false when
 * this rank is the first, and its own partial result is now left for the second. */
static bool meet(struct sg_node_op *op, int meeting, size_t size_bytes, int *partner)
{
    _Atomic uint64_t *word = sg_ring_meeting(op->node, op->position, meeting);
    /* Acquire: pairs with the first arriver's exchange; its partial and line are there. */
    uint64_t seen = atomic_load_explicit(word, memory_order_acquire);

    if (!sg_ring_is(seen, op->position)) {
        store_own(op, size_bytes);
        /* Acquire and release: this rank either reads the other's data or has its own read. */
        seen = atomic_exchange_explicit(word, sg_ring_tag(op->position, (uint32_t)op->node->rank),
                                        memory_order_acq_rel);
    }
    *partner = (int)sg_ring_value(seen);
    return sg_ring_is(seen, op->position);
}

/* Where the next partial result goes: at the top of a reduce directly to the root's buffer. */
static void *fold_target(const struct sg_node_op *op, bool top, size_t size_bytes)
{
    if (top && op->call.operation == SG_OPERATION_REDUCE && op->node->rank == op->call.root)
        return sg_op_target(op);
    return sg_ring_data(op->node, op->position, op->node->rank, size_bytes);
}

static void fold_with(struct sg_node_op *op, int partner, bool right, bool top, size_t size_bytes)
{
    const void *own = partial_of(op, size_bytes);
    const void *theirs = sg_ring_data(op->node, op->position, partner, size_bytes);

    op->early++;
    if (op->call.arrival_ns != 0 && op->call.operation == SG_OPERATION_REDUCE)
        op->late += sg_ring_left(op->node, partner) > op->position;
    if (size_bytes == 0)
        return;
    op->call.fold(op->call.fold_context, right ? theirs : own, right ? own : theirs,
                  fold_target(op, top, size_bytes), op->chunk_count);
    op->own_in_slot = true;
}

/* Climbs from this rank's leaf. True at the top: this rank was the last. */
static bool climb(struct sg_node_op *op, size_t size_bytes)
{
    struct sg_climb at = sg_climb_start(&op->call.shape, op->node->rank);
    bool right = false, next_right = false;
    int meeting = 0, next_meeting = 0, partner;
    bool more = sg_climb_step(&op->call.shape, &at, &meeting, &right);

    while (more) {
        if (!meet(op, meeting, size_bytes, &partner))
            return false;
        if (!sg_op_sees(op, partner) || op->mismatch_rank >= 0)
            return false;
        more = sg_climb_step(&op->call.shape, &at, &next_meeting, &next_right);
        fold_with(op, partner, right, !more, size_bytes);
        meeting = next_meeting;
        right = next_right;
    }
    return true;
}

/* The last rank publishes the result and takes its own copy. */
static enum sg_node_step release(struct sg_node_op *op, size_t size_bytes)
{
    struct sg_node *node = op->node;

    if (op->call.operation == SG_OPERATION_REDUCE && node->rank == op->call.root)
        return SG_NODE_DONE; /* folded into its buffer, and nobody else waits */
    /* Release: the result in this rank's slot comes before. */
    atomic_store_explicit(sg_ring_release(node, op->position),
                          sg_ring_tag(op->position, (uint32_t)node->rank), memory_order_release);
    if (op->call.operation == SG_OPERATION_ALLREDUCE && size_bytes > 0)
        sg_op_deliver(op, sg_op_target(op),
                      sg_ring_data(node, op->position, node->rank, size_bytes), op->chunk_count);
    return SG_NODE_DONE;
}

enum sg_node_step sg_handoff_poll(struct sg_node_op *op)
{
    struct sg_node *node = op->node;
    size_t size_bytes = sg_op_chunk_bytes(op);
    uint64_t word;

    if (op->state == SG_OP_START) {
        op->own_in_slot = false;
        sg_op_publish(op);
        op->state = SG_OP_ARRIVED;
        if (climb(op, size_bytes))
            return release(op, size_bytes);
        if (op->mismatch_rank >= 0)
            return SG_NODE_MISMATCH;
    }
    if (op->call.operation == SG_OPERATION_REDUCE && node->rank != op->call.root)
        return SG_NODE_DONE;
    /* Acquire: pairs with release. */
    word = atomic_load_explicit(sg_ring_release(node, op->position), memory_order_acquire);
    if (!sg_ring_is(word, op->position))
        return SG_NODE_WAIT;
    if (size_bytes > 0) {
        sg_op_deliver(op, sg_op_target(op),
                      sg_ring_data(node, op->position, (int)sg_ring_value(word), size_bytes),
                      op->chunk_count);
        op->copies++;
    }
    return SG_NODE_DONE;
}
