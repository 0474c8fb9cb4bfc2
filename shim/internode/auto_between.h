/* The algorithm `auto` between nodes. At each learning slot (mpi/learning.h) the candidates are
 * protocols, and MPICH's own algorithm if it gives the same bits; core/learn.h decides.
 *
 * Ranks sum up call costs by a nonblocking MPICH allreduce on the communicator, one for each round
 * of learning and two for each look. It starts in one call, and its result is used some calls
 * later. docs/decisions/14.
 *
 * Blocking calls only: the cost of a nonblocking call shows outside of it. Runs in the
 * application's thread, one call at a time on a communicator.
 */
#ifndef SG_INTERNODE_AUTO_BETWEEN_H
#define SG_INTERNODE_AUTO_BETWEEN_H

#include "internode/communicator.h"

/* Sets internode->automatic at set-up, if some rule has `auto`. name: the communicator's. False:
 * out of memory. */
bool sg_internode_use_auto(struct sg_internode *internode, const char *name);
void sg_internode_free_auto(struct sg_internode *internode);
/* Begins a call's trial round and returns the choice to run, never `auto`. rule: the choice on
 * which all ranks have agreed, for a call that all of them run. May wait for other ranks' costs. */
const struct sg_choice *sg_internode_begin_turn(struct sg_internode *internode,
                                                const struct sg_call *call,
                                                const struct sg_choice *rule);
/* Returns the choice for a nonblocking call. */
const struct sg_choice *sg_internode_usual(const struct sg_internode *internode,
                                           const struct sg_call *call,
                                           const struct sg_choice *rule);
/* Progresses without waiting. True: no allreduce is in flight, and none will start. */
bool sg_internode_end_auto(struct sg_internode *internode);

#endif
