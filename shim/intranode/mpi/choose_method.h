/* Chooses the method by which a node's ranks run a call: by the rule, or by size among the methods
 * of shim/intranode. */
#ifndef SG_INTRANODE_MPI_CHOOSE_METHOD_H
#define SG_INTRANODE_MPI_CHOOSE_METHOD_H

#include "intranode/mpi/intranode.h"

struct sg_ruleset;

/* Report the resources that some call may need by the rules, identically on all ranks: a segment
 * for a communicator of one node (name and size); for any communicator, the node's buffers for
 * large operands, and reading of other ranks' memory. */
bool sg_intranode_wants_segment(const struct sg_ruleset *rules, const char *name, int size);
bool sg_intranode_wants_pool(const struct sg_ruleset *rules);
bool sg_intranode_wants_reading(const struct sg_ruleset *rules);
/* *choice becomes the one that all ranks follow; the plan holds until the communicator's next call.
 * NULL: MPICH runs the call. That decision is the same on all ranks, or due to an argument error on
 * this rank, which MPICH will report. */
const struct sg_intranode_plan *sg_intranode_choose(struct sg_intranode *intranode,
                                                    const struct sg_call *call,
                                                    const struct sg_choice **choice);
/* Runs the chosen call. Returns the MPI call's return value. */
int sg_intranode_run_chosen(struct sg_intranode *intranode, const struct sg_call *call,
                            const struct sg_choice *choice, const struct sg_intranode_plan *plan,
                            struct sg_call_statistics *statistics);

#endif
