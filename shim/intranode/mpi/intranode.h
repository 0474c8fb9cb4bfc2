/* The engine of a communicator whose ranks share one node: a segment, and calls that run in it by
 * the methods of shim/intranode, chosen by the rule, or by size.
 *
 * The communicator's ranks set it up together (shim/intercept/comm_setup.c carries the messages):
 * rank 0 offers, the others accept, all agree. It runs in the application's thread, inside the
 * intercepted call; one call at a time on a communicator, as MPI requires.
 */
#ifndef SG_INTRANODE_MPI_INTRANODE_H
#define SG_INTRANODE_MPI_INTRANODE_H

#include "core/status.h"
#include "intranode/memory.h"
#include "mpi/call.h"

struct sg_intranode;

/* Once, in MPI_Init. depth: slots by which a rank may run ahead (a power of two). stall_s: length
 * of a wait that is reported. */
void sg_intranode_start(uint32_t depth, int stall_s);
/* As sg_internode_count_from. */
void sg_intranode_count_from(uint64_t first);

/* On rank 0: makes the segment. world_ranks: the members'. SG_ERR_MISSING: too little memory is
 * left (intranode/memory.h), which has been logged. SG_ERR_SYSTEM: errno has the reason; nothing is
 * logged. */
enum sg_status sg_intranode_offer(const char *name, const int *world_ranks, int ranks,
                                  struct sg_intranode **out, struct sg_segment_ticket *ticket);

/* On the other ranks: maps the segment. */
enum sg_status sg_intranode_accept(const struct sg_segment_ticket *ticket, int rank,
                                   struct sg_intranode **out);

/* Before the agreement: finds the members' buffers for large operands. False: out of memory. */
bool sg_intranode_use_pool(struct sg_intranode *intranode, const int *world_ranks);

/* Before the agreement: prepares the algorithm `auto`, if some rule has it. name: the
 * communicator's. False: out of memory. */
bool sg_intranode_use_auto(struct sg_intranode *intranode, const struct sg_ruleset *rules,
                           const char *name);

/* True when the other ranks have taken all that this rank left for them. */
bool sg_intranode_is_drained(struct sg_intranode *intranode);
void sg_intranode_free(struct sg_intranode *intranode);

/* ---- calls ---- */

/* False: MPICH runs the call with any choice, by a decision that is the same on all ranks, or
 * because of an argument error on this rank, which MPICH will report. */
bool sg_intranode_takes(struct sg_intranode *intranode, const struct sg_call *call);
/* Plans a call. *choice becomes the one that all ranks follow. False: MPICH runs the call, as
 * above or by that choice. */
bool sg_intranode_plan(struct sg_intranode *intranode, const struct sg_call *call,
                       const struct sg_choice **choice);
/* Runs the call that has been planned. Returns the MPI call's return value. */
int sg_intranode_run_planned(struct sg_intranode *intranode, const struct sg_call *call,
                             const struct sg_choice *choice, struct sg_call_statistics *statistics);

/* Begins the trial round of a planned call with choice `auto`. Returns the choice to run; if it is
 * MPICH's, the plan has been dropped. May wait for other ranks' costs. End the round after the call
 * has run. */
const struct sg_choice *sg_intranode_begin_turn(struct sg_intranode *intranode,
                                                const struct sg_call *call,
                                                const struct sg_choice *rule);
void sg_intranode_end_turn(struct sg_intranode *intranode);

/* Looks whether the other ranks are in the call. waits: until one of them has come. */
enum sg_others sg_intranode_look(struct sg_intranode *intranode, const struct sg_call *call,
                                 bool waits);

#endif
