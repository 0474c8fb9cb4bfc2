/* The engine of a communicator whose ranks share one machine: a segment, and calls that run in it
 * by the algorithms of shim/intranode.
 *
 * The communicator's ranks set it up together (shim/intercept/comm_engine.c carries the messages):
 * rank 0 offers, the others accept, all agree. It runs in the application's thread, inside the
 * intercepted call; one call at a time on a communicator, as MPI requires.
 */
#ifndef SG_INTRANODE_MPI_INTRANODE_H
#define SG_INTRANODE_MPI_INTRANODE_H

#include "core/status.h"
#include "intranode/memory.h"
#include "intranode/mpi/auto_inside.h"
#include "intranode/mpi/plan_call.h"

struct sg_intranode;

/* Once, in MPI_Init. depth: slots by which a rank may run ahead (a power of two). stall_s: length
 * of a wait that is reported. */
void sg_intranode_start(uint32_t depth, int stall_s);
/* As sg_internode_count_from. */
void sg_intranode_count_from(uint64_t first);

/* On rank 0: makes the segment. SG_ERR_MISSING: too little memory is left (intranode/memory.h),
 * which has been logged. SG_ERR_SYSTEM: errno has the reason; nothing is logged. */
enum sg_status sg_intranode_offer(const char *name, int ranks, struct sg_intranode **out,
                                  struct sg_segment_ticket *ticket);

/* On the other ranks: maps the segment. */
enum sg_status sg_intranode_accept(const struct sg_segment_ticket *ticket, int rank,
                                   struct sg_intranode **out);

/* Before the agreement: finds the members' buffers for large operands. False: out of memory. */
bool sg_intranode_use_pool(struct sg_intranode *intranode, const int *world_ranks);

/* Before the agreement: prepares the algorithm `auto`, if some rule has it. name: the
 * communicator's. False: out of memory. */
bool sg_intranode_use_auto(struct sg_intranode *intranode, const struct sg_ruleset *rules,
                           const char *name);

void sg_intranode_free(struct sg_intranode *intranode);

/* Returns this rank's view of the segment. */
struct sg_node *sg_intranode_node(struct sg_intranode *intranode);

/* The state with which its calls are planned. */
struct sg_intranode_planner *sg_intranode_planner(struct sg_intranode *intranode);

/* Returns the choice that all ranks of the instance follow: the first arriver's, as its index in
 * call->rules. Waits for a slot if necessary; warns once for each pair of call sites that choose
 * differently. sg_intranode_run or sg_node_skip consumes the instance. */
const struct sg_choice *sg_intranode_agree(struct sg_intranode *intranode,
                                           const struct sg_call *call, const struct sg_choice *own);

/* True if the condition holds on any rank; takes a separate instance. */
bool sg_intranode_any(struct sg_intranode *intranode, const struct sg_call *call, bool own);

/* Begins the trial round of a call with choice `auto`: sg_auto_begin, and the wait that it needs.
 */
void sg_intranode_begin_auto(struct sg_intranode *intranode, const struct sg_call *call,
                             const struct sg_choice *choice, struct sg_auto_turn *turn);

/* group: for SG_NODE_GROUPS. */
int sg_intranode_run(struct sg_intranode *intranode, const struct sg_call *call,
                     const struct sg_intranode_plan *plan, enum sg_node_method method, int group,
                     struct sg_call_statistics *statistics);

/* Looks whether the other ranks are in the call. waits: until one of them has come. */
enum sg_others sg_intranode_look(struct sg_intranode *intranode, const struct sg_call *call,
                                 bool waits);

#endif
