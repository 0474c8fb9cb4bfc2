/* Broadcast (paper srm, section 2.2: the root fills shared buffers with READY flags; here slots of
 * the ring): the root writes a chunk into its slot and goes on as far as its credits reach, so that
 * it leaves when its last chunk is written; everyone else copies chunks out, and waits for the root
 * alone. Every rank publishes its line, so that calls that do not fit are found.
 *
 * Large ones with a single copy: everyone reads the root's buffer directly. Reading may fail on one
 * rank alone; it then reports it before its last count, and all ranks run the call again through
 * the slots.
 */
#include "intranode/ring.h"

#include <string.h>

static bool is_root(const struct sg_node_op *op)
{
    return op->node->rank == op->call.root;
}

/* As far as the root's line tells: it waits for nobody. */
static void find_skew(struct sg_node_op *op)
{
    uint64_t root_ns = sg_ring_line(op->node, op->position, op->call.root)->arrival_ns;

    if (op->done_count > 0 || op->call.arrival_ns == 0 || root_ns == 0)
        return;
    op->early += root_ns < op->call.arrival_ns;
}

enum sg_node_step sg_broadcast_poll(struct sg_node_op *op)
{
    struct sg_node *node = op->node;
    size_t size_bytes = sg_op_chunk_bytes(op);

    if (op->state == SG_OP_START) {
        if (is_root(op)) {
            memcpy(sg_ring_data(node, op->position, node->rank, size_bytes), sg_op_own(op),
                   size_bytes);
            op->copies++;
        }
        sg_op_publish(op);
        op->state = SG_OP_ARRIVED;
    }
    if (is_root(op))
        return SG_NODE_DONE;
    if (!sg_op_sees(op, op->call.root))
        return SG_NODE_WAIT;
    if (op->mismatch_rank >= 0)
        return SG_NODE_MISMATCH;
    find_skew(op);
    memcpy(sg_op_target(op), sg_ring_data(node, op->position, op->call.root, size_bytes),
           size_bytes);
    op->copies++;
    return SG_NODE_DONE;
}

/* ---- a single copy --------------------------------------------------------------------------- */

static void arrive(struct sg_node_op *op)
{
    uint64_t address = (uint64_t)(uintptr_t)op->call.send;

    memcpy(sg_ring_line(op->node, op->position, op->node->rank)->payload, &address, sizeof address);
    sg_op_publish(op);
    sg_stage_begin(op);
}

static bool read_whole(struct sg_node_op *op)
{
    const struct sg_node_reader *reader = op->node->reader;
    uint64_t address;

    memcpy(&address, sg_ring_line(op->node, op->position, op->call.root)->payload, sizeof address);
    op->copies++;
    return reader->read(reader->context, op->call.root, address, op->call.receive,
                        op->call.count * op->call.element_bytes);
}

enum sg_node_step sg_read_poll(struct sg_node_op *op)
{
    switch (op->state) {
    case SG_OP_START:
        arrive(op);
        op->state = SG_OP_ARRIVED;
        /* fall through */
    case SG_OP_ARRIVED:
        if (!is_root(op)) {
            if (!sg_op_sees(op, op->call.root))
                return SG_NODE_WAIT;
            if (op->mismatch_rank >= 0)
                return SG_NODE_MISMATCH;
            find_skew(op);
            if (!read_whole(op))
                sg_op_say_failed(op);
        }
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
