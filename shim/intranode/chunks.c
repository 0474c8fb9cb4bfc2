/* Reductions with large operands, and handoff.
 *
 * Chunks (paper srm, section 2.2: two buffers, pipelined chunks): each rank folds its own share of
 * every chunk, over all ranks, in the association of the shape. Each chunk has three stages: bring
 * the others' shares of this rank's operand into its buffer; fold its own share, directly into the
 * receive buffer if there is one; fetch the results of the other shares. A rank counts the chunks
 * that have passed each stage; these counts are the only synchronisation. Chunk k+1 is brought
 * before chunk k is fetched, so that no rank waits for a copy that could have been made before. The
 * counts continue from call to call, identically on all ranks.
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

/* Returns the number of elements, and the first one, of a rank's share of a chunk: whole cache
 * lines except for the last share. */
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

/* Copies this rank's operand, except for the share that it folds itself. */
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
    size_t first; /* first element of the share, in the chunk */
};

static const void *share_operand(void *context, int rank)
{
    const struct share *share = context;
    size_t offset_bytes = share->first * share->op->call.element_bytes;

    return rank == share->op->node->rank
               ? (const void *)(own_operand(share->op, share->chunk) + offset_bytes)
               : buffer_of(share->op, rank, share->chunk->parity) + offset_bytes;
}

/* Folds into the receive buffer, then copies the result to the buffer from which the others fetch
 * it. */
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

/* Finds the next step for this rank, in the order bring(0), bring(1), fold(0), fetch(0), bring(2),
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

/* True if all ranks have finished the steps on which this one depends: a buffer is refilled when
 * its results have been fetched, folded when all have brought their shares, fetched when all have
 * folded. */
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
        sg_op_publish(op, SG_TOLD_ARRIVAL);
        sg_stage_begin(op);
        op->state = SG_OP_ARRIVED;
    }
    /* No rank brings anything before all agree on the call. */
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
    /* All communicators share the node's buffers: a rank leaves when no rank reads them any more.
     */
    return sg_stage_all(op, SG_STAGE_FETCH, chunk_total(op)) ? SG_NODE_DONE : SG_NODE_WAIT;
}

/* Handoff: a tree of fixed shape, climbed by late ranks. At each meeting the first arriver leaves
 * its operand and goes on (reduce) or waits for the release; the second folds left (op) right and
 * climbs on. The result is therefore the shape's, and no rank ever waits for a helper.
 *
 * A meeting is one word: the first arriver exchanges its rank into it. A rank that finds another
 * rank there is the second, and often needs no atomic operation. A climbing rank keeps its partial
 * result in its own slot.
 */

/* Returns this rank's partial result of the chunk so far. */
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

/* True if this rank is the second: *partner is the rank whose slot holds the other partial result.
 * False if it is the first: its own partial result is now in its slot for the second. */
static bool meet(struct sg_node_op *op, int meeting, size_t size_bytes, int *partner)
{
    _Atomic uint64_t *word = sg_ring_meeting(op->node, op->position, meeting);
    /* Acquire: pairs with the first arriver's exchange, which publishes its partial result and
     * line. */
    uint64_t seen = atomic_load_explicit(word, memory_order_acquire);

    if (!sg_ring_is(seen, op->position)) {
        store_own(op, size_bytes);
        /* Acquire and release: this rank either reads the other's data or publishes its own. */
        seen = atomic_exchange_explicit(word, sg_ring_tag(op->position, (uint32_t)op->node->rank),
                                        memory_order_acq_rel);
    }
    *partner = (int)sg_ring_value(seen);
    return sg_ring_is(seen, op->position);
}

/* Returns the buffer for the next partial result: at the top of a reduce, directly the root's. */
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
        return SG_NODE_DONE; /* folded into its own buffer, and no other rank waits */
    /* Release: the result in this rank's slot comes before. */
    atomic_store_explicit(sg_ring_release(node, op->position),
                          sg_ring_tag(op->position, (uint32_t)node->rank), memory_order_release);
    op->told |= SG_TOLD;
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
        sg_op_publish(op, 0);
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

/* Large allreduce with a single copy: ranks read each other's buffers directly. Each rank folds its
 * own share of the operand into its receive buffer, block by block, and fetches the other shares
 * from the receive buffers of the ranks that folded them.
 *
 * A read may fail on one rank alone, for example of device memory. This rank then reports it before
 * its last count, and all ranks run the call again through the shared buffers: operands are
 * unchanged, because the method is not used with MPI_IN_PLACE.
 */

/* Addresses of a rank's buffers, in its line. */
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
    sg_op_publish(op, SG_TOLD_ARRIVAL);
}

/* Returns the share of the whole operand that a rank folds. */
static size_t single_share_of(const struct sg_node_op *op, int rank, size_t *first)
{
    size_t each = (op->call.count + (size_t)op->node->ranks - 1) / (size_t)op->node->ranks;

    return sg_op_share(op->call.count, each, rank, first);
}

struct block {
    const struct sg_node_op *op;
    size_t offset_bytes; /* in the operand */
};

/* This rank's scratch memory for another rank's part of the block. */
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

static bool single_fold_share(struct sg_node_op *op)
{
    size_t room = SG_NODE_READ_BYTES / op->call.element_bytes;
    size_t first, count = single_share_of(op, op->node->rank, &first);

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
        size_t first, count = single_share_of(op, rank, &first);
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
        if (!single_fold_share(op))
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
    /* The ranks have agreed on the call. Its line is not written again, because others may be
     * reading it. */
    op->call.method = SG_NODE_CHUNKS;
    sg_stage_begin(op);
    op->state = SG_OP_MOVING;
    return SG_NODE_AGAIN;
}
