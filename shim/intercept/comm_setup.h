/* Set-up of communicators, and their end.
 *
 * A communicator whose messages slices carry (sliced.h) is set up right after its creation. Others
 * are set up inside their first blocking barriers and allreduces (STAGGER_SETUP_AFTER), after
 * MPICH's call has returned success, so that argument errors stay MPICH's. Set-up is one broadcast
 * from rank 0. The state is an attribute, whose delete callback reports when the handle becomes
 * free for reuse. MPI_COMM_WORLD and MPI_COMM_SELF are set up at start.
 *
 * Application threads; not from a signal handler.
 */
#ifndef SG_INTERCEPT_COMM_SETUP_H
#define SG_INTERCEPT_COMM_SETUP_H

#include "core/status.h"
#include "intercept/comm.h"

/* Sets up MPI_COMM_WORLD and MPI_COMM_SELF, after sg_process's rank, size and log are set.
 * messages_rule: the rule that carries messages of MPI_COMM_WORLD; -1: none. */
enum sg_status sg_comm_start(int messages_rule);

/* Counts barriers and allreduces on a communicator that is not set up, the same on all members.
 * Returns true when it is to be set up now. */
bool sg_comm_is_due(MPI_Comm handle);

/* Collective over the communicator (unless every member sees that it is not managed). NULL: out of
 * memory. messages_rule: as in sg_comm_start. */
struct sg_comm *sg_comm_set_up(MPI_Comm handle, int messages_rule);

/* Call before MPI_Comm_free and MPI_Comm_disconnect; collective. Makes the communicator's state the
 * first of its attributes to be deleted. If members are on several machines, it returns when all of
 * them have finished what is outstanding, and no other rank reaches this one any more. */
void sg_comm_leave(MPI_Comm handle);
/* Call after MPI_Comm_free and MPI_Comm_disconnect, and from time to time: ends freed communicators
 * whose operations are over. Does not wait. */
void sg_comm_end_freed(void);

/* Call both in MPI_Finalize. Drain finishes what is outstanding on all communicators; until then
 * others may wait for it in their collectives, and the caller must not start a collective. */
void sg_comm_drain(void);
void sg_comm_stop(void);

#endif
