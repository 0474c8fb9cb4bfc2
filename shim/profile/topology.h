/* A communicator's topology: what its neighborhood collectives move depends on it, and the log
 * tells of it.
 *
 * Any thread; not from a signal handler. Local: nothing is agreed with other ranks.
 */
#ifndef SG_PROFILE_TOPOLOGY_H
#define SG_PROFILE_TOPOLOGY_H

#include <mpi.h>
#include <stdint.h>

/* How many neighbors a rank of the communicator, which has one group, receives from and sends to;
 * unchanged where there is no topology. */
void sg_topology_degrees(MPI_Comm handle, int rank, int *in, int *out);

/* Of a Cartesian topology the sizes of its dimensions, and behind them whether they are periodic (0
 * or 1); malloc'ed. NULL: there is none, or no memory; *dimensions is then 0. */
uint32_t *sg_topology_grid(MPI_Comm handle, uint8_t *dimensions);

/* 1 + the number in the log of the group of those whose data neighborhood collectives bring to a
 * rank, without itself (groups.h). world_ranks: of the communicator's members. 0: there are none,
 * or there is no room. */
uint32_t sg_topology_sources(MPI_Comm handle, int rank, const int *world_ranks);

#endif
