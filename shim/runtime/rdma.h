/* RDMA to other machines: starts the companion library in MPI_Init where the job runs on several
 * machines. If some rank cannot use it, no rank does, and one line says why.
 */
#ifndef SG_RUNTIME_RDMA_H
#define SG_RUNTIME_RDMA_H

#include "runtime/process.h"
#include "transport/transport.h"

/* Collective over process->exchange, after sg_placement_start. */
enum sg_status sg_rdma_start(const struct sg_process *process);

/* NULL, on all ranks alike, if there is no RDMA. */
const struct sg_transport_ops *sg_rdma_ops(void);

/* The name of a world rank's machine; only where RDMA is used. */
const char *sg_rdma_host(int world_rank);

/* When the engine of the last communicator is gone. */
void sg_rdma_stop(void);
/* In the child of a fork. */
void sg_rdma_forget(void);

#endif
