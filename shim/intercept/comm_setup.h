/* Set-up of communicators, and their end.
 *
 * A communicator is set up behind its creation if its messages are carried (sliced.h), else inside
 * its first blocking barriers and allreduces (STAGGER_SETUP_AFTER), after MPICH's call has returned
 * success (argument errors so stay MPICH's), by one broadcast from its rank 0. Its state is kept as
 * an attribute, whose delete callback tells when the handle becomes free for reuse. MPI_COMM_WORLD
 * and MPI_COMM_SELF are set up at start.
 *
 * In the application's threads; not from a signal handler.
 */
#ifndef SG_INTERCEPT_COMM_SETUP_H
#define SG_INTERCEPT_COMM_SETUP_H

#include "core/status.h"
#include "intercept/comm.h"

/* Sets up MPI_COMM_WORLD and MPI_COMM_SELF; after sg_process's rank, size and log are set.
 * messages_rule: by which messages of MPI_COMM_WORLD are carried; -1: they are not. */
enum sg_status sg_comm_start(int messages_rule);

/* After a barrier or allreduce on a communicator that is not set up: whether it is to be
 * now. Counts them, alike on all members. */
bool sg_comm_is_due(MPI_Comm handle);

/* Collective over the communicator (unless every member can tell that it is not managed). NULL
 * when out of memory. messages_rule: as in sg_comm_start. */
struct sg_comm *sg_comm_set_up(MPI_Comm handle, int messages_rule);

/* Before MPI_Comm_free and MPI_Comm_disconnect, collective: the communicator's state is the first
 * of its attributes to be deleted. Where members are on several machines, all of them have come to
 * the end of what is outstanding, and none is reached by others any more. */
void sg_comm_leave(MPI_Comm handle);
/* After it, and now and then: freed communicators whose operations are over are given up. Waits for
 * nothing. */
void sg_comm_end_freed(void);

/* At MPI_Finalize. Drain: what is outstanding on any communicator is brought to its end; until then
 * others may wait for it in their collectives, and nothing collective may be asked of them. */
void sg_comm_drain(void);
void sg_comm_stop(void);

#endif
