/* Windows, whose handles do not tell their communicators; and groups of ranks, with which windows
 * are synchronised.
 *
 * A window is known by its communicator and its place among the windows of that: all members make
 * them in one order, so that nothing is agreed with others. It is written to the log when a call on
 * it is recorded first after its making, by when it has its name.
 *
 * Any thread; look-ups take no lock. Not from a signal handler.
 */
#ifndef SG_PROFILE_WINDOWS_H
#define SG_PROFILE_WINDOWS_H

#include "profile/comms.h"
#include "profile/groups.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>

struct sg_window {
    int number;    /* in this rank's log */
    uint32_t comm; /* the number of its communicator there; 0: it has none */
    /* Collectives on it so far, of which its making is the first. */
    _Atomic uint32_t collectives;
    /* With which groups it is synchronised; SG_NO_NUMBER: none, or not known. */
    _Atomic int access_group, exposure_group;
};

/* One that was made on a communicator. */
void sg_window_made(MPI_Win handle, struct sg_profile_comm *comm);

/* NULL: it is not known. Valid until the handle is given up. */
struct sg_window *sg_window_of(MPI_Win handle);

/* The place of a collective that is over among those on it. */
static inline uint32_t sg_window_order(struct sg_window *window)
{
    return atomic_fetch_add_explicit(&window->collectives, 1, memory_order_relaxed);
}

/* It is in the log from now on. handle: MPI_WIN_NULL once it is given up. */
void sg_window_define(struct sg_window *window, MPI_Win handle);

/* Its handle is given up. */
void sg_window_forget(MPI_Win handle);

/* Recording is switched on or off: with which groups they are synchronised is not known. */
void sg_windows_switch(void);

/* All that are there are in the log. */
void sg_windows_stop(void);

/* A group's number in this rank's log, where it is written when it is new; SG_NO_NUMBER: it is
 * empty, has members outside MPI_COMM_WORLD, or cannot be written. */
int sg_group_number(MPI_Group group);

#endif
