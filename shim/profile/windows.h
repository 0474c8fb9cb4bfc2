/* Windows, whose handles do not tell their communicators.
 *
 * Any thread; takes a lock. Not from a signal handler.
 */
#ifndef SG_PROFILE_WINDOWS_H
#define SG_PROFILE_WINDOWS_H

#include <mpi.h>
#include <stdint.h>

/* One that was made, on a communicator with this number in the log. */
void sg_window_made(MPI_Win window, uint32_t comm);

/* That number; 0: not known. */
uint32_t sg_window_comm(MPI_Win window);

/* Its handle is given up. */
void sg_window_forget(MPI_Win window);

#endif
