/* struct sg_exchange over a communicator of the library's own. */
#ifndef SG_RUNTIME_EXCHANGE_MPI_H
#define SG_RUNTIME_EXCHANGE_MPI_H

#include "core/exchange.h"

#include <mpi.h>

/* *comm must outlive the exchange. */
void sg_exchange_mpi(MPI_Comm *comm, int rank, int size, struct sg_exchange *out);

#endif
