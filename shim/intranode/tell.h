/* What the ranks of a node tell each other of what calls cost them, for the decisions of learn.h:
 * in the segment, without a message or a wait of its own.
 *
 * A rank writes its line before it leaves an instance of the ring. Others read it at a later
 * instance, once all have left that one. For each place there are two lines, used in turn: a rank
 * that writes one for the second time has seen that all have left the instance at which the other
 * was written, and so all have read this one.
 */
#ifndef SG_INTRANODE_TELL_H
#define SG_INTRANODE_TELL_H

#include "core/learn.h"
#include "intranode/node.h"

/* Before the rank's next instance. turn: how often it has told at this place. */
void sg_tell_put(const struct sg_node *node, int place, uint32_t turn,
                 const struct sg_learn_told *told);

/* told: by rank; after sg_node_have_left of the instance. */
void sg_tell_get(const struct sg_node *node, int place, uint32_t turn, struct sg_learn_told *told);

#endif
