/* Large operands (paper srm, section 2.2: two buffers, pipelined chunks): each rank folds its own
 * share of every chunk, over all ranks, in the association of the shape.
 *
 * There are three stages for each chunk: bring the others' shares of this rank's operand into its
 * buffer; fold its own share, directly into the receive buffer if there is one; fetch the results
 * of the other shares. A rank counts the chunks that have passed each stage; these counts are the
 * only synchronisation. Chunk k+1 is brought before chunk k is fetched, so that nobody waits for a
 * copy that could have been made before.
 *
 * The counts run on from call to call, in the same way on all ranks.
 */
#include "intranode/ring.h"

#include <string.h>

static size_t chunk_room(const struct sg_node_op *op)
{
    return SG_POOL_CHUNK_BYTES / op->call.element_bytes;
}

static uint64_t chunk_total(const struct sg_node_op *op)
{
    return (op->call.count + chunk_room(op) - 1) / chunk_room(op);
}

struct chunk {
    size_t first, count; /* elements of the operand */
    unsigned parity;
};

static struct chunk chunk_at(const struct sg_node_op *op, uint64_t index)
{
    size_t room = chunk_room(op);
    struct chunk chunk = {.first = index * room, .parity = index & 1};
    size_t left = op->call.count - chunk.first;

    chunk.count = left < room ? left : room;
    return chunk;
}

/* The share of a chunk that a rank folds: whole cache lines except for the last share. */
static size_t share_of(const struct sg_node_op *op, const struct chunk *chunk, int rank,
                       size_t *first)
{
    size_t line = SG_NODE_LINE_BYTES / op->call.element_bytes;
    size_t each = (chunk->count + (size_t)op->node->ranks - 1) / (size_t)op->node->ranks;

    if (line > 1)
        each = (each + line - 1) / line * line;
    return sg_op_share(chunk->count, each, rank, first);
}

static unsigned char *buffer_of(const struct sg_node_op *op, int rank, unsigned parity)
{
    return op->node->pool[rank]->chunk[parity];
}

static const char *own_operand(const struct sg_node_op *op, const struct chunk *chunk)
{
    return (const char *)op->call.send + chunk->first * op->call.element_bytes;
}

static char *own_result(const struct sg_node_op *op, const struct chunk *chunk)
{
    return (char *)op->call.receive + chunk->first * op->call.element_bytes;
}

/* This rank's operand without the share that it folds itself. */
static void bring(struct sg_node_op *op, const struct chunk *chunk)
{
    size_t element_bytes = op->call.element_bytes;
    size_t first, count = share_of(op, chunk, op->node->rank, &first);
    unsigned char *buffer = buffer_of(op, op->node->rank, chunk->parity);
    const char *from = own_operand(op, chunk);

    memcpy(buffer, from, first * element_bytes);
    memcpy(buffer + (first + count) * element_bytes, from + (first + count) * element_bytes,
           (chunk->count - first - count) * element_bytes);
    op->copies++;
}

struct share {
    const struct sg_node_op *op;
    const struct chunk *chunk;
    size_t first; /* of the share, in the chunk */
};

static const void *share_operand(void *context, int rank)
{
    const struct share *share = context;
    size_t offset_bytes = share->first * share->op->call.element_bytes;

    return rank == share->op->node->rank
               ? (const void *)(own_operand(share->op, share->chunk) + offset_bytes)
               : buffer_of(share->op, rank, share->chunk->parity) + offset_bytes;
}

/* Into the receive buffer, and from there to where the others fetch it. */
static void fold_share(struct sg_node_op *op, const struct chunk *chunk)
{
    struct share share = {.op = op, .chunk = chunk};
    struct sg_folding folding = sg_op_folding(op, share_operand, &share);
    bool receives = op->call.receive != NULL;
    bool shown = op->call.operation == SG_OPERATION_ALLREDUCE || !receives;
    size_t count = share_of(op, chunk, op->node->rank, &share.first);
    size_t offset_bytes = share.first * op->call.element_bytes;
    unsigned char *place = buffer_of(op, op->node->rank, chunk->parity) + offset_bytes;

    if (count == 0)
        return;
    sg_fold_all(&folding, count, receives ? (void *)(own_result(op, chunk) + offset_bytes) : place);
    if (receives && shown)
        memcpy(place, own_result(op, chunk) + offset_bytes, count * op->call.element_bytes);
}

static void fetch(struct sg_node_op *op, const struct chunk *chunk)
{
    if (op->call.receive == NULL)
        return;
    for (int rank = 0; rank < op->node->ranks; rank++) {
        size_t first, count, offset_bytes;

        if (rank == op->node->rank)
            continue;
        count = share_of(op, chunk, rank, &first);
        offset_bytes = first * op->call.element_bytes;
        sg_op_deliver(op, own_result(op, chunk) + offset_bytes,
                      buffer_of(op, rank, chunk->parity) + offset_bytes, count);
    }
    op->copies++;
}

/* The next step for this rank, in the order bring(0), bring(1), fold(0), fetch(0), bring(2),
 * fold(1), ...; false at the end. */
static bool next_step(const struct sg_node_op *op, int *stage, uint64_t *index)
{
    uint64_t total = chunk_total(op);
    uint64_t brought = op->stage_count[SG_STAGE_BRING];
    uint64_t fetched = op->stage_count[SG_STAGE_FETCH];

    if (fetched == total)
        return false;
    *stage = brought < total && brought < fetched + 2 ? SG_STAGE_BRING
             : op->stage_count[SG_STAGE_FOLD] < op->stage_count[SG_STAGE_FETCH] + 1
                 ? SG_STAGE_FOLD
                 : SG_STAGE_FETCH;
    *index = op->stage_count[*stage];
    return true;
}

/* What all ranks must have done before a step: a buffer is filled again when its results have been
 * fetched, folded when all have brought their shares, fetched when all have folded. */
static bool may_step(struct sg_node_op *op, int stage, uint64_t index)
{
    switch (stage) {
    case SG_STAGE_BRING:
        return index < 2 || sg_stage_all(op, SG_STAGE_FETCH, index - 1);
    case SG_STAGE_FOLD:
        return sg_stage_all(op, SG_STAGE_BRING, index + 1);
    default:
        return sg_stage_all(op, SG_STAGE_FOLD, index + 1);
    }
}

static void take_step(struct sg_node_op *op, int stage, uint64_t index)
{
    struct chunk chunk = chunk_at(op, index);

    switch (stage) {
    case SG_STAGE_BRING:
        bring(op, &chunk);
        break;
    case SG_STAGE_FOLD:
        fold_share(op, &chunk);
        break;
    default:
        fetch(op, &chunk);
        break;
    }
    sg_stage_done(op, stage);
}

enum sg_node_step sg_chunks_poll(struct sg_node_op *op)
{
    uint64_t index;
    int stage;

    if (op->state == SG_OP_START) {
        sg_op_publish(op);
        sg_stage_begin(op);
        op->state = SG_OP_ARRIVED;
    }
    /* Nothing is brought before all agree on the call. */
    if (op->state == SG_OP_ARRIVED) {
        if (!sg_op_sees_all(op))
            return SG_NODE_WAIT;
        op->state = SG_OP_MOVING;
    }
    if (op->mismatch_rank >= 0)
        return SG_NODE_MISMATCH;
    while (next_step(op, &stage, &index)) {
        if (!may_step(op, stage, index))
            return SG_NODE_WAIT;
        take_step(op, stage, index);
    }
    /* The buffers belong to the node: a rank leaves them when nobody reads them any more. */
    return sg_stage_all(op, SG_STAGE_FETCH, chunk_total(op)) ? SG_NODE_DONE : SG_NODE_WAIT;
}
