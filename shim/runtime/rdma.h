/* The way to other machines: the companion for RDMA, started in MPI_Init where the job is on
 * several machines. Where some rank cannot use it, none does, and one line says why.
 */
#ifndef SG_RUNTIME_RDMA_H
#define SG_RUNTIME_RDMA_H

#include "runtime/process.h"
#include "transport/transport.h"

/* Collective over process->exchange, after sg_placement_start. */
enum sg_status sg_rdma_start(const struct sg_process *process);

/* NULL, on all ranks alike: there is none. */
const struct sg_transport_ops *sg_rdma_ops(void);

/* The name of a world rank's machine, where there is a wire. */
const char *sg_rdma_host(int world_rank);

/* After the last communicator's engine is gone. */
void sg_rdma_stop(void);
/* In the child of a fork. */
void sg_rdma_forget(void);

#endif
