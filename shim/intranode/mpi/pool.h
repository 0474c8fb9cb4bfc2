/* The node's buffers for large operands (intranode/method.h): made in MPI_Init, on all ranks or on
 * none, if some rule may need them. Not under MPI_THREAD_MULTIPLE: two communicators' calls could
 * wait for each other's buffers; there large operands go through the communicator's own slots.
 */
#ifndef SG_INTRANODE_MPI_POOL_H
#define SG_INTRANODE_MPI_POOL_H

#include "core/exchange.h"
#include "intranode/method.h"

#include <stdbool.h>

/* Collective over the exchange (world ranks), after sg_memory_start. is_wanted: the same on all
 * ranks. If it is true and the buffers cannot be made, one line says so. */
enum sg_status sg_pool_start(const struct sg_exchange *exchange, bool is_wanted);

/* Alike on all ranks. */
bool sg_pool_is_there(void);

/* The buffers of a rank of this node; NULL: there are none. */
struct sg_pool_rank *sg_pool_of(int world_rank);

#endif
