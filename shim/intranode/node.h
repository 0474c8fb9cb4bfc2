/* Collectives among the ranks of one node, on one shared segment: lock-free, in 0.1 us, outside the
 * contract for protocols between nodes. Papers: srm (003) for the flat exchange and the pipelined
 * chunks; handoff is stagger's own (docs/algorithms.md).
 *
 * A call is a struct sg_node_op on the caller's stack: sg_node_begin, then sg_node_poll until it no
 * longer returns WAIT; the caller decides what to do between polls (shim/wait/wait.h). Nothing here
 * blocks, allocates, makes a system call or uses MPI, so tests drive many ranks from one thread in
 * any order of arrival.
 *
 * One operation at a time for each rank and segment. Not from a signal handler.
 */
#ifndef SG_INTRANODE_NODE_H
#define SG_INTRANODE_NODE_H

#include "core/learn.h"
#include "intranode/method.h"
#include "intranode/outbox.h"

/* Bytes of a segment; depth is a power of two. */
size_t sg_node_bytes(int ranks, uint32_t depth, uint32_t slot_bytes);
/* Lays out a zeroed segment (one process), or checks it and fills the view (every process). False:
 * it is not that segment. */
void sg_node_format(void *segment, int ranks, uint32_t depth, uint32_t slot_bytes, uint64_t nonce);
/* Before it is attached: instances have numbers from there on; for tests of the numbers' ends. */
void sg_node_count_from(void *segment, uint64_t first);
bool sg_node_attach(struct sg_node *node, void *segment, int rank, uint64_t nonce);
/* op->call is the caller's; the rest need not have been set. */
void sg_node_begin(struct sg_node_op *op, struct sg_node *node);
enum sg_node_step sg_node_poll(struct sg_node_op *op);
/* Of a call that has waited for a slot (op->stalled) for a while: true if nobody has left an
 * instance meanwhile. Then this rank, where it only gives, leaves its operands elsewhere until
 * somebody does. */
bool sg_node_goes_on(struct sg_node_op *op);
/* A rank's line about its box. */
struct sg_node_box *sg_node_box(const struct sg_node *node, int rank);
/* The first rank chooses: publishes `choice` for this rank's next instance, or returns what another
 * rank has published. False while this rank has no credit for the instance: call again later. The
 * instance is consumed by sg_node_begin, or by sg_node_skip. */
bool sg_node_choose(struct sg_node *node, uint32_t choice, uint32_t *chosen, int *chooser);
void sg_node_skip(struct sg_node *node);
/* Whether every rank has left the instance at position, which this rank has. */
bool sg_node_have_left(struct sg_node *node, uint64_t position);
/* While waiting: looks for a rank whose call in this instance differs; if there is one returns true
 * and mismatch_rank. Cheap enough for once in a few microseconds. Among broadcasts from one root
 * only a receiver that differs from the root finds out. */
bool sg_node_disagrees(struct sg_node_op *op);
/* After a mismatch, so that the communicator's next call finds all ranks at one position
 * (disagree.c). Bytes of the root's broadcast where this rank differs from it as a receiver; 0:
 * another disagreement. Conform makes the call one of the root's size, to be polled on; buffer has
 * that size. */
size_t sg_node_broadcast_bytes(const struct sg_node_op *op);
void sg_node_conform(struct sg_node_op *op, void *buffer);
/* Any other disagreement. The call has to wait until all ranks have come, unless it waits for
 * nobody anyway; then it is left behind. False: the ranks' next positions differ. */
bool sg_node_have_come(const struct sg_node_op *op);
bool sg_node_step_over(struct sg_node_op *op);
/* What another rank has published for this rank's next instance; NULL: nothing yet. all_look: the
 * call failed on all other ranks, too, which look for the others' call: nobody has made it. */
const struct sg_call_info *sg_node_others_call(const struct sg_node *node, bool *all_look);
/* For messages: what a rank has published for the instance at position; NULL: nothing yet. */
const struct sg_call_info *sg_node_call_info(const struct sg_node *node, uint64_t position,
                                             int rank);

/* What the ranks of a node tell each other of what calls cost them, for the decisions of learn.h:
 * in the segment, without a message or a wait of its own.
 *
 * A rank writes its line before it leaves an instance of the ring. Others read it at a later
 * instance, once all have left that one. For each place there are two lines, used in turn: a rank
 * that writes one for the second time has seen that all have left the instance at which the other
 * was written, and so all have read this one.
 */

/* Before the rank's next instance. turn: how often it has told at this place. */
void sg_tell_put(const struct sg_node *node, int place, uint32_t turn,
                 const struct sg_learn_told *told);
/* told: by rank; after sg_node_have_left of the instance. */
void sg_tell_get(const struct sg_node *node, int place, uint32_t turn, struct sg_learn_told *told);

/* The memory of boxes (outbox.h), for one communicator: each rank's is made when it is needed
 * first, on the account of STAGGER_MEMORY, and mapped by the others when they look for it.
 *
 * In the application's threads; not from a signal handler.
 */

struct sg_boxes;

/* Gives the node its outbox; NULL: no memory, and none. The node must stay where it is. */
struct sg_boxes *sg_boxes_create(struct sg_node *node);
/* The others find this rank's no longer: sg_outbox_is_empty. NULL: nothing. */
void sg_boxes_free(struct sg_boxes *boxes);

#endif
