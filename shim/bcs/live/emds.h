/* EMDS: slices of buffered coscheduling in the log, each with its metrics, at the nodes that
 * STAGGER_EMDS_NODES names (paper: BCS-MPI, section 5.2; docs/decisions/0057-emds.md).
 *
 * Written as they end, by whichever of a node's processes is there. What has no room of its own is
 * kept as sums.
 */
#ifndef SG_BCS_LIVE_EMDS_H
#define SG_BCS_LIVE_EMDS_H

#include "internode/internode.h"
#include "mpi/user_lines.h"

/* In MPI_Init, with the log open, before communicators are set up. */
void sg_emds_start(void);
/* A communicator with slices; comm: its index in the log. */
void sg_emds_know(struct sg_internode *internode, uint32_t comm);
/* Async-signal-safe; with the lock of the communicator's endpoint. */
void sg_emds_slice(const struct sg_told_slice *told);

#endif
