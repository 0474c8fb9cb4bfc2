/* How a node's ranks run a call: by the rule, or by size with one of the methods of shim/intranode.
 */
#ifndef SG_INTRANODE_MPI_CHOOSE_METHOD_H
#define SG_INTRANODE_MPI_CHOOSE_METHOD_H

#include "intranode/mpi/intranode.h"

struct sg_ruleset;

/* What some call may need by the rules, the same on all ranks: a segment for a communicator of one
 * node (name and size); for any communicator, the node's buffers for large operands, and reading
 * other ranks' memory.
 */
bool sg_intranode_wants_segment(const struct sg_ruleset *rules, const char *name, int size);
bool sg_intranode_wants_pool(const struct sg_ruleset *rules);
bool sg_intranode_wants_reading(const struct sg_ruleset *rules);
/* *choice becomes the one that all ranks follow; the plan holds until the communicator's next call.
 * NULL: MPICH runs the call, by a decision that is the same on all ranks, or because of an argument
 * error of this rank's that MPICH will report. */
const struct sg_intranode_plan *sg_intranode_choose(struct sg_intranode *intranode,
                                                    const struct sg_call *call,
                                                    const struct sg_choice **choice);
/* Returns what the MPI call returns. */
int sg_intranode_run_chosen(struct sg_intranode *intranode, const struct sg_call *call,
                            const struct sg_choice *choice, const struct sg_intranode_plan *plan,
                            struct sg_call_statistics *statistics);

#endif
