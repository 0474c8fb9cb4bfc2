/* Whether all ranks have the library, and the same one: asked in MPI_Init, before anything else.
 *
 * A rank without it takes no part in the first exchange, and nothing that it could take part in
 * would leave its own messages alone. So the exchange has a time limit, at which the job ends with
 * a line that says why. Any thread; not from a signal handler.
 */
#ifndef SG_RUNTIME_PRESENT_H
#define SG_RUNTIME_PRESENT_H

#include <mpi.h>
#include <stdbool.h>

/* From here to sg_present_end waits are watched (wait/yielding.h). rank: in MPI_COMM_WORLD. */
void sg_present_begin(int rank);
void sg_present_end(void);

/* Collective over world, a duplicate of MPI_COMM_WORLD: false, and one line, where ranks have
 * different versions. */
bool sg_present_agree(MPI_Comm world, int rank);

#endif
