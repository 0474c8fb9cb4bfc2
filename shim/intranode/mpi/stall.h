/* The line about a rank that does not come to a collective inside a node. */
#ifndef SG_INTRANODE_MPI_STALL_H
#define SG_INTRANODE_MPI_STALL_H

#include "intranode/node.h"
#include "mpi/call.h"

/* What every rank is in, once an instance. */
void sg_intranode_report_stall(struct sg_node *node, const struct sg_call *call, int seconds);

#endif
