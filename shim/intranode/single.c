/* Large allreduce with a single copy: ranks read each other's buffers directly. Each rank folds its
 * own share of the operand into its receive buffer, block by block, and fetches the other shares
 * from the receive buffers of the ranks that folded them.
 *
 * Reading may fail (for example memory of a device) on one rank alone. This rank then reports it
 * before its last count, and all ranks run the call again through the shared buffers: operands are
 * unchanged, because the method is not for MPI_IN_PLACE.
 */
#include "intranode/ring.h"

#include <string.h>

/* Where a rank's buffers are, in its line. */
struct places {
    uint64_t send;
    uint64_t receive;
};

static struct places places_of(const struct sg_node_op *op, int rank)
{
    struct places places;

    memcpy(&places, sg_ring_line(op->node, op->position, rank)->payload, sizeof places);
    return places;
}

static void arrive(struct sg_node_op *op)
{
    struct places places = {(uint64_t)(uintptr_t)op->call.send,
                            (uint64_t)(uintptr_t)op->call.receive};

    memcpy(sg_ring_line(op->node, op->position, op->node->rank)->payload, &places, sizeof places);
    sg_op_publish(op);
}

/* The share of the whole operand that a rank folds. */
static size_t share_of(const struct sg_node_op *op, int rank, size_t *first)
{
    size_t each = (op->call.count + (size_t)op->node->ranks - 1) / (size_t)op->node->ranks;

    return sg_op_share(op->call.count, each, rank, first);
}

struct block {
    const struct sg_node_op *op;
    size_t offset_bytes; /* in the operand */
};

/* A rank's part of the block: read into this rank's scratch memory, or its own operand. */
static unsigned char *scratch_of(const struct sg_node_op *op, int rank)
{
    return op->node->access->scratch + (size_t)rank * SG_NODE_READ_BYTES;
}

static const void *block_operand(void *context, int rank)
{
    const struct block *block = context;

    return rank == block->op->node->rank ? (const char *)block->op->call.send + block->offset_bytes
                                         : (const char *)scratch_of(block->op, rank);
}

static bool fold_block(struct sg_node_op *op, size_t first, size_t count)
{
    const struct sg_node_access *access = op->node->access;
    struct block block = {.op = op, .offset_bytes = first * op->call.element_bytes};
    struct sg_folding folding = sg_op_folding(op, block_operand, &block);

    for (int rank = 0; rank < op->node->ranks; rank++) {
        if (rank != op->node->rank &&
            !access->read(access->context, rank, places_of(op, rank).send + block.offset_bytes,
                          scratch_of(op, rank), count * op->call.element_bytes))
            return false;
    }
    sg_fold_all(&folding, count, (char *)op->call.receive + block.offset_bytes);
    return true;
}

static bool fold_share(struct sg_node_op *op)
{
    size_t room = SG_NODE_READ_BYTES / op->call.element_bytes;
    size_t first, count = share_of(op, op->node->rank, &first);

    for (size_t done = 0; done < count; done += room) {
        size_t left = count - done;

        if (!fold_block(op, first + done, left < room ? left : room))
            return false;
    }
    op->copies++;
    return true;
}

static bool fetch_shares(struct sg_node_op *op)
{
    const struct sg_node_access *access = op->node->access;

    for (int rank = 0; rank < op->node->ranks; rank++) {
        size_t first, count = share_of(op, rank, &first);
        size_t offset_bytes = first * op->call.element_bytes;

        if (rank != op->node->rank && count > 0 &&
            !access->read(access->context, rank, places_of(op, rank).receive + offset_bytes,
                          (char *)op->call.receive + offset_bytes, count * op->call.element_bytes))
            return false;
    }
    op->copies++;
    return true;
}

enum sg_node_step sg_single_poll(struct sg_node_op *op)
{
    switch (op->state) {
    case SG_OP_START:
        arrive(op);
        sg_stage_begin(op);
        op->state = SG_OP_ARRIVED;
        /* fall through */
    case SG_OP_ARRIVED:
        if (!sg_op_sees_all(op))
            return SG_NODE_WAIT;
        if (op->mismatch_rank >= 0)
            return SG_NODE_MISMATCH;
        sg_stage_done(op, SG_STAGE_BRING);
        if (!fold_share(op))
            sg_op_say_failed(op);
        sg_stage_done(op, SG_STAGE_FOLD);
        op->state = SG_OP_FOLDED;
        /* fall through */
    case SG_OP_FOLDED:
        if (!sg_stage_all(op, SG_STAGE_FOLD, 1))
            return SG_NODE_WAIT;
        if (!op->failed && !fetch_shares(op))
            sg_op_say_failed(op);
        sg_stage_done(op, SG_STAGE_FETCH);
        op->state = SG_OP_FETCHED;
        /* fall through */
    default:
        if (!sg_stage_all(op, SG_STAGE_FETCH, 1))
            return SG_NODE_WAIT;
    }
    if (!sg_op_anyone_failed(op))
        return SG_NODE_DONE;
    /* The ranks have agreed on the call: its line, which others may be reading, is not written
     * again. */
    op->call.method = SG_NODE_CHUNKS;
    sg_stage_begin(op);
    op->state = SG_OP_MOVING;
    return SG_NODE_AGAIN;
}
