/* Checks in MPI_Init, before anything else, that all ranks have the library in the same version;
 * and provides sg_exchange over MPI.
 *
 * A rank without the library does not join the first exchange, and no other operation could include
 * that rank without disturbing its own messages. So the exchange has a time limit; when it expires,
 * the job ends with a line that says why. Any thread; not from a signal handler.
 */
#ifndef SG_RUNTIME_PRESENT_H
#define SG_RUNTIME_PRESENT_H

#include "core/exchange.h"

#include <mpi.h>
#include <stdbool.h>

/* Waits are watched from here to sg_present_end (wait/yielding.h). rank: in MPI_COMM_WORLD. */
void sg_present_begin(int rank);
void sg_present_end(void);
/* Collective over world, a duplicate of MPI_COMM_WORLD. Returns false, with one line, if ranks have
 * different versions. */
bool sg_present_agree(MPI_Comm world, int rank);

/* ---- sg_exchange over a communicator of the library's own ---- */

/* Fills *out; *comm must outlive the exchange. */
void sg_exchange_mpi(MPI_Comm *comm, int rank, int size, struct sg_exchange *out);

/* Collective over world, a duplicate of MPI_COMM_WORLD. Replaces an exchange over it by one in
 * which the ranks of a machine use shared memory (intranode/board.h) and one of them MPICH; not if
 * some rank cannot share memory. machine: the same on the ranks of a machine. SG_ERR_SYSTEM: MPICH
 * failed. */
enum sg_status sg_exchange_meet(MPI_Comm *world, uint64_t machine, struct sg_exchange *exchange);
/* True if all ranks exchange in the memory of one machine: without MPICH. */
bool sg_exchange_is_shared(void);
/* Returns the bytes that it takes on this machine. */
size_t sg_exchange_shared_bytes(void);
void sg_exchange_part(void);

#endif
