/* The algorithm `auto` between nodes: at each place (mpi/learning.h) the arms are protocols, and
 * MPICH's own where it gives the same bits; core/learn.h decides.
 *
 * Ranks tell each other what calls cost by a nonblocking allgather of MPICH's on the communicator,
 * one for each round of learning and each look, which is started in one call and used some calls
 * later. docs/decisions/0062-auto.md.
 *
 * Blocking calls only: what a nonblocking one costs shows outside of it. In the application's
 * thread, one call at a time on a communicator.
 */
#ifndef SG_INTERNODE_AUTO_BETWEEN_H
#define SG_INTERNODE_AUTO_BETWEEN_H

#include "internode/communicator.h"

/* At set-up: internode->automatic, where some rule has `auto`. name: the communicator's. False: out
 * of memory. */
bool sg_internode_use_auto(struct sg_internode *internode, const char *name);
void sg_internode_free_auto(struct sg_internode *internode);
/* A call's turn begins: what runs, never `auto`. rule: the choice on which all ranks have agreed,
 * for a call that all of them run. May wait for what other ranks have to tell. */
const struct sg_choice *sg_internode_begin_turn(struct sg_internode *internode,
                                                const struct sg_call *call,
                                                const struct sg_choice *rule);
/* What runs a nonblocking call. */
const struct sg_choice *sg_internode_usual(const struct sg_internode *internode,
                                           const struct sg_call *call,
                                           const struct sg_choice *rule);
/* Goes on without waiting. True: nothing is under way, and none will be. */
bool sg_internode_end_auto(struct sg_internode *internode);

#endif
