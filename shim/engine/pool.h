/* The node's buffers for large operands (shim/node/pool.h): made in MPI_Init, on all ranks or on
 * none. Not under MPI_THREAD_MULTIPLE: two communicators' calls could then wait for each other's
 * buffers; large operands go through the communicator's own slots.
 */
#ifndef SG_ENGINE_POOL_H
#define SG_ENGINE_POOL_H

#include "core/exchange.h"
#include "node/pool.h"

/* Collective over the exchange (world ranks), after sg_placement_start. Where it cannot be had one
 * line says so, unless it is not to be had. */
enum sg_status sg_pool_start(const struct sg_exchange *exchange);

/* The buffers of a rank of this node; NULL: there are none. */
struct sg_pool_rank *sg_pool_of(int world_rank);

/* The process of a rank of this node where every rank of every node can read the memory of every
 * other of its node (process_vm_readv, probed in sg_pool_start); else 0. */
int sg_pool_process_of(int world_rank);

#endif
