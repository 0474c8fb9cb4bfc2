/* The way to other machines: the companion for RDMA, started in MPI_Init where the job is on
 * several machines. Where some rank cannot use it, none does, and one line says why.
 */
#ifndef SG_INTERCEPT_WIRE_H
#define SG_INTERCEPT_WIRE_H

#include "intercept/process.h"
#include "transport/transport.h"

/* Collective over process->exchange, after sg_placement_start. */
enum sg_status sg_wire_start(const struct sg_process *process);

/* NULL, on all ranks alike: there is none. */
const struct sg_transport_ops *sg_wire_ops(void);

/* The name of a world rank's machine, where there is a wire. */
const char *sg_wire_host(int world_rank);

/* After the last communicator's engine is gone. */
void sg_wire_stop(void);
/* In the child of a fork. */
void sg_wire_forget(void);

#endif
