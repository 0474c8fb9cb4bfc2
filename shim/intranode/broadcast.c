/* Broadcast (paper srm, section 2.2: the root fills shared buffers with READY flags; here slots of
 * the ring): the root writes a chunk into its slot and goes on as far as its credits reach, so that
 * it leaves when its last chunk is written; everyone else copies chunks out, and waits for the root
 * alone. Every rank publishes its line, so that calls that do not fit are found. Large ones with a
 * single copy: pull.c.
 */
#include "intranode/ring.h"

#include <string.h>

/* As far as the root's line tells: it waits for nobody. */
void sg_broadcast_find_skew(struct sg_node_op *op)
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
        if (sg_broadcast_is_root(op)) {
            memcpy(sg_ring_data(node, op->position, node->rank, size_bytes), sg_op_own(op),
                   size_bytes);
            op->copies++;
        }
        sg_op_publish(op);
        op->state = SG_OP_ARRIVED;
    }
    if (sg_broadcast_is_root(op))
        return SG_NODE_DONE;
    if (!sg_op_sees(op, op->call.root))
        return SG_NODE_WAIT;
    if (op->mismatch_rank >= 0)
        return SG_NODE_MISMATCH;
    sg_broadcast_find_skew(op);
    memcpy(sg_op_target(op), sg_ring_data(node, op->position, op->call.root, size_bytes),
           size_bytes);
    op->copies++;
    return SG_NODE_DONE;
}
