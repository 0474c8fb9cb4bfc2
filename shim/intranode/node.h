/* another disagreement. conform resizes the call to the root's size; poll it on. buffer has that
 * size. */
/* Collectives among the ranks of one node, on one shared segment. They are lock-free and take about
 * 0.1 us, so they do not use the contract for protocols between nodes. Papers: srm (003) for the
 * flat exchange and the pipelined chunks; handoff is stagger's own (docs/algorithms.md).
 *
 * A call is a struct sg_node_op on the caller's stack: sg_node_begin, then sg_node_poll until it no
 * longer returns WAIT; the caller decides what to do between polls (shim/wait/wait.h). Nothing here
 * blocks, allocates, makes a system call or uses MPI, except for boxes (below), so tests drive many
 * ranks from one thread in any order of arrival.
 *
 * One operation at a time for each rank and segment. Not from a signal handler.
 */
#ifndef SG_INTRANODE_NODE_H
#define SG_INTRANODE_NODE_H

#include "core/learn.h"
#include "intranode/method.h"
#include "intranode/outbox.h"

/* Size of a segment in bytes; depth is a power of two. */
size_t sg_node_bytes(int ranks, uint32_t depth, uint32_t slot_bytes);
/* format lays out a zeroed segment (one process); attach checks it and fills the view (every
 * process). attach returns false if it is not the expected segment. */
void sg_node_format(void *segment, int ranks, uint32_t depth, uint32_t slot_bytes, uint64_t nonce);
/* Sets the first instance number, for tests of counter overflow. Before the segment is attached. */
void sg_node_count_from(void *segment, uint64_t first);
bool sg_node_attach(struct sg_node *node, void *segment, int rank, uint64_t nonce);
/* The caller sets op->call; the rest may be uninitialized. */
void sg_node_begin(struct sg_node_op *op, struct sg_node *node);
enum sg_node_step sg_node_poll(struct sg_node_op *op);
/* As sg_op_tells (ring.h): true if this rank is the last to leave an instance for which a rank that
 * sleeps waits, to have a slot. */
bool sg_node_frees_slot(struct sg_node *node);
/* For a call that has waited for a slot (op->stalled) for a while. True if no rank has left an
 * instance meanwhile. Then this rank, if it only contributes, leaves its operands in its box until
 * a rank leaves one. */
bool sg_node_goes_on(struct sg_node_op *op);
/* Announcement of a rank's box. */
struct sg_node_box *sg_node_box(const struct sg_node *node, int rank);
/* The first rank chooses: publishes `choice` for this rank's next instance, or returns the choice
 * that another rank has published. False while this rank has no credit for the instance: call again
 * later. sg_node_begin or sg_node_skip consumes the instance. */
bool sg_node_choose(struct sg_node *node, uint32_t choice, uint32_t *chosen, int *chooser);
void sg_node_skip(struct sg_node *node);
/* True if every rank has left the instance at position, which this rank has left. */
bool sg_node_have_left(struct sg_node *node, uint64_t position);
/* For a waiting call: looks for a rank whose call in this instance differs. If there is one,
 * returns true and sets mismatch_rank. Cheap enough to run every few microseconds. Among broadcasts
 * from one root, only a receiver that differs from the root finds out. */
bool sg_node_disagrees(struct sg_node_op *op);
/* Recovery after a mismatch, so that the communicator's next call finds all ranks at one position.
 * broadcast_bytes returns the size of the root's broadcast if this rank differs from it as a
 * receiver; */
size_t sg_node_broadcast_bytes(const struct sg_node_op *op);
void sg_node_conform(struct sg_node_op *op, void *buffer);
/* For any other disagreement: step over the call once have_come returns true, which is when all
 * ranks have come, or at once for a call that waits for nobody. step_over returns false if the
 * ranks' next positions differ. */
bool sg_node_have_come(const struct sg_node_op *op);
bool sg_node_step_over(struct sg_node_op *op);
/* Returns another rank's published call for this rank's next instance; NULL: none yet. all_look:
 * the call failed on all other ranks, too, which also look for others' calls: nobody has made it.
 */
const struct sg_call_info *sg_node_others_call(const struct sg_node *node, bool *all_look);
/* For messages: returns a rank's published call for the instance at position; NULL: none yet. */
const struct sg_call_info *sg_node_call_info(const struct sg_node *node, uint64_t position,
                                             int rank);

/* Ranks of a node exchange the costs of calls, for the decisions of core/learn.h: in the segment,
 * without a message or a separate wait.
 *
 * A rank writes its line before it leaves an instance of the ring. Others read it at a later
 * instance, once all have left that one. Each learning slot has two lines, used alternately. A rank
 * that writes one for the second time has seen that all have left the instance at which the other
 * was written, so all have read this one.
 */

/* Before the rank's next instance. turn: number of earlier reports at this learning slot. */
void sg_tell_put(const struct sg_node *node, int place, uint32_t turn,
                 const struct sg_learn_told *told);
/* Returns the sums over the ranks; after sg_node_have_left of the instance. */
struct sg_learn_told sg_tell_get(const struct sg_node *node, int place, uint32_t turn);

/* The memory of boxes (outbox.h), for one communicator. A rank's box is made at its first use,
 * charged to STAGGER_MEMORY; the others map it when they look for it.
 *
 * In application threads; not from a signal handler.
 */

struct sg_boxes;

/* Sets the node's outbox. NULL: out of memory, and the node has none. The node must not move. */
struct sg_boxes *sg_boxes_create(struct sg_node *node);
/* Precondition: sg_outbox_is_empty, because the others cannot find this rank's box any more. boxes
 * may be NULL. */
void sg_boxes_free(struct sg_boxes *boxes);

#endif
