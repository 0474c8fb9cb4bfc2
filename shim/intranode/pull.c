/* A large broadcast with a single copy: everyone reads the root's buffer directly, and the root,
 * which would only wait, writes into the buffers of those that are there. A reader's buffer is cut
 * into blocks; the reader takes them from the front and the root from the back, by a word of both,
 * until they meet. So the two copy at the same time; a root that has no processor to itself leaves
 * all to the readers, whom it would only hold up.
 *
 * Copying may fail on one rank alone; it then reports it before its last count, and all ranks run
 * the call again through the slots. A root whose write has failed does not write again.
 */
#include "intranode/ring.h"

#include <string.h>

/* A block is a share of the call, of this size at least: the system calls of smaller ones cost more
 * than copying in turn saves. */
#ifndef SG_PULL_BLOCK_BYTES /* tests have smaller ones */
#define SG_PULL_BLOCK_BYTES (32u * 1024u)
#endif
#define BLOCKS_MAX 4
#define PAGE_BYTES 4096u

static size_t size_of(const struct sg_node_op *op)
{
    return op->call.count * op->call.element_bytes;
}

static size_t block_bytes_of(const struct sg_node_op *op)
{
    size_t each = (size_of(op) + BLOCKS_MAX - 1) / BLOCKS_MAX;

    return each > SG_PULL_BLOCK_BYTES ? (each + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES
                                      : SG_PULL_BLOCK_BYTES;
}

/* ---- who copies which block ---- */

/* Of a reader, whose number may be 0, for which there is no meeting. */
static _Atomic uint64_t *word_of(const struct sg_node_op *op, int reader)
{
    return sg_ring_meeting(op->node, op->position, reader > 0 ? reader : op->call.root);
}

/* In the word: blocks taken from the front, and from the back. */
#define TAKEN_BITS 14
#define TAKEN_MASK ((1u << TAKEN_BITS) - 1)

/* The next block of a reader's for this rank, the reader or the root. False: all are taken. */
static bool take(const struct sg_node_op *op, int reader, uint32_t *block)
{
    _Atomic uint64_t *word = word_of(op, reader);
    uint32_t blocks = (uint32_t)((size_of(op) + block_bytes_of(op) - 1) / block_bytes_of(op));
    bool from_front = op->node->rank == reader;
    /* Relaxed, all: the word tells all there is to know. */
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
    uint32_t taken, front, back;

    do {
        taken = sg_ring_is(seen, op->position) ? sg_ring_value(seen) : 0;
        front = taken & TAKEN_MASK;
        back = taken >> TAKEN_BITS;
        if (front + back == blocks)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(
        word, &seen, sg_ring_tag(op->position, taken + (from_front ? 1 : 1u << TAKEN_BITS)),
        memory_order_relaxed, memory_order_relaxed));
    *block = from_front ? front : blocks - 1 - back;
    return true;
}

/* ---- copying ---- */

/* What a rank's line says. */
struct place {
    uint64_t address; /* of its buffer */
    uint64_t writes;  /* the root: it takes blocks */
};

static struct place place_of(const struct sg_node_op *op, int rank)
{
    struct place place;

    memcpy(&place, sg_ring_line(op->node, op->position, rank)->payload, sizeof place);
    return place;
}

static size_t span_of(const struct sg_node_op *op, uint32_t block, size_t *at)
{
    size_t each = block_bytes_of(op);

    *at = block * each;
    return size_of(op) - *at < each ? size_of(op) - *at : each;
}

static bool writes(const struct sg_node_op *op)
{
    return op->call.root_writes && op->node->access->write != NULL;
}

static void arrive(struct sg_node_op *op)
{
    bool is_root = sg_broadcast_is_root(op);
    struct place place = {(uint64_t)(uintptr_t)(is_root ? op->call.send : op->call.receive),
                          is_root && writes(op)};

    memcpy(sg_ring_line(op->node, op->position, op->node->rank)->payload, &place, sizeof place);
    sg_op_publish(op);
    sg_stage_begin(op);
}

static bool read_span(struct sg_node_op *op, uint64_t address, size_t at, size_t bytes)
{
    const struct sg_node_access *access = op->node->access;

    op->copies++;
    return access->read(access->context, op->call.root, address + at, (char *)op->call.receive + at,
                        bytes);
}

/* All that the root does not write. False: failed. */
static bool read_rest(struct sg_node_op *op)
{
    struct place place = place_of(op, op->call.root);
    uint32_t block;

    if (!place.writes)
        return read_span(op, place.address, 0, size_of(op));
    while (take(op, op->node->rank, &block)) {
        size_t at, bytes = span_of(op, block, &at);

        if (!read_span(op, place.address, at, bytes))
            return false;
    }
    return true;
}

static void write_block(struct sg_node_op *op, int rank, uint32_t block)
{
    struct sg_node_access *access = op->node->access;
    size_t at, bytes = span_of(op, block, &at);

    op->copies++;
    if (access->write(access->context, rank, place_of(op, rank).address + at,
                      (const char *)op->call.send + at, bytes))
        return;
    access->write = NULL;
    sg_op_say_failed(op);
}

/* A block of each reader that is there, in turn. False: nothing is left but what others copy. */
static bool write_blocks(struct sg_node_op *op)
{
    bool is_left = false;
    uint32_t block;

    for (int rank = 0; rank < op->node->ranks && writes(op); rank++) {
        if (rank == op->call.root)
            continue;
        if (!sg_op_sees(op, rank)) {
            is_left = true;
        } else if (op->mismatch_rank >= 0) {
            op->mismatch_rank = -1; /* it differs from this root, and sees to that by itself */
        } else if (take(op, rank, &block)) {
            write_block(op, rank, block);
            is_left = true;
        }
    }
    return is_left && writes(op);
}

/* ---- the call ---- */

/* False: not over. */
static bool copy(struct sg_node_op *op)
{
    if (sg_broadcast_is_root(op))
        return !write_blocks(op);
    if (!sg_op_sees(op, op->call.root))
        return false;
    if (op->mismatch_rank >= 0)
        return true;
    sg_broadcast_find_skew(op);
    if (!read_rest(op))
        sg_op_say_failed(op);
    return true;
}

enum sg_node_step sg_pull_poll(struct sg_node_op *op)
{
    switch (op->state) {
    case SG_OP_START:
        arrive(op);
        op->state = SG_OP_ARRIVED;
        /* Who sleeps until this rank has come need not sleep until it has copied. */
        return SG_NODE_WAIT;
    case SG_OP_ARRIVED:
        if (!copy(op))
            return SG_NODE_WAIT;
        if (op->mismatch_rank >= 0)
            return SG_NODE_MISMATCH;
        sg_stage_done(op, SG_STAGE_FETCH);
        op->state = SG_OP_FETCHED;
        /* fall through */
    default:
        if (!sg_stage_all(op, SG_STAGE_FETCH, 1))
            return SG_NODE_WAIT;
    }
    if (sg_op_anyone_failed(op)) {
        /* Nothing of the call is done by this instance: the next one begins it again. */
        op->chunk_count = 0;
        op->call.method = SG_NODE_BROADCAST;
    }
    return SG_NODE_DONE;
}
