/* EMDS: writes slices of buffered coscheduling to the log, each with its metrics, at the nodes in
 * STAGGER_EMDS_NODES (paper: BCS-MPI, section 5.2; docs/decisions/09).
 *
 * A slice is written as it ends, by whichever process of the node runs the protocol then. Slices
 * without a record are kept as sums.
 */
#ifndef SG_BCS_LIVE_EMDS_H
#define SG_BCS_LIVE_EMDS_H

#include "internode/internode.h"
#include "mpi/user_lines.h"

/* Call in MPI_Init, with the log open, before communicators are set up. */
void sg_emds_start(void);
/* Registers a communicator with slices. comm: its index in the log. */
void sg_emds_know(struct sg_internode *internode, uint32_t comm);
/* Records a slice that has ended. Async-signal-safe; the caller holds the lock of the
 * communicator's endpoint. */
void sg_emds_slice(const struct sg_told_slice *told);

#endif
