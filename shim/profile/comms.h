/* Communicators of the profile: a number in the log, and the properties that a call's bytes depend
 * on. Also numbers groups of ranks in the log.
 *
 * A communicator is identified when it is made (module.h), and written to the log when a call on it
 * is first counted: by then it has its name. If only statistics are kept, the number of a freed
 * communicator is reused for the next one with its members and name.
 *
 * Any thread; look-ups take no lock. Not from a signal handler. Nothing is agreed with other ranks.
 */
#ifndef SG_PROFILE_COMMS_H
#define SG_PROFILE_COMMS_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_profile_comm {
    uint32_t index; /* in this rank's log; 0: it could not be written */
    bool is_inter;
    int rank;
    int size;     /* of the local group */
    int peers;    /* of the remote group if there is one, else of the local one */
    uint64_t key; /* identity, the same on all members; 0: not known, or only one member */
    /* Neighbors in the topology; 0: none. */
    int in_degree, out_degree;
    /* Collectives that MPICH ran, and those that the library ran. */
    _Atomic uint32_t passed;
    _Atomic(const atomic_uint *) managed; /* NULL: none */
    _Atomic uint32_t windows;             /* made on it */
};

/* Gives MPI_COMM_WORLD and MPI_COMM_SELF the numbers 1 and 2. */
void sg_profile_comms_start(void);

/* Origin of a communicator. */
struct sg_profile_birth {
    MPI_Comm parent;  /* MPI_COMM_NULL: none */
    bool is_ordered;  /* all members of the parent take part */
    bool has_members; /* the parent has the same members, and the new one cannot be used yet */
};

void sg_profile_comm_made(MPI_Comm handle, const struct sg_profile_birth *birth);
/* NULL for MPI_COMM_NULL, for a handle that is no communicator, or without memory. */
struct sg_profile_comm *sg_profile_comm_of(MPI_Comm handle);
/* Likewise before a call, which may get a wrong handle: NULL unless the communicator has been seen,
 * or seen to be made. */
struct sg_profile_comm *sg_profile_comm_asked(MPI_Comm handle);
/* Returns the number of a communicator that has been seen; 0: it has not. */
uint32_t sg_profile_comm_index(MPI_Comm handle);
/* For an intercommunicator, returns 1 + the rank in MPI_COMM_WORLD of a remote rank; 0: not known,
 * or the communicator has one group. index: its number. Takes a lock. */
uint32_t sg_profile_comm_world(uint32_t index, int peer);
/* Adds the library's own count of collectives on a communicator. NULL: as sg_profile_comm_of. */
struct sg_profile_comm *sg_profile_comm_link(MPI_Comm handle, const atomic_uint *managed);
/* Counts a collective that MPICH ran. Returns its position in the order of all collectives on the
 * communicator, the same on all ranks. */
uint32_t sg_profile_comm_order(struct sg_profile_comm *comm);

/* Returns the position of the last collective, whether MPICH or the library ran it. */
static inline uint32_t sg_profile_comm_last(const struct sg_profile_comm *comm)
{
    const atomic_uint *managed = atomic_load_explicit(&comm->managed, memory_order_relaxed);

    return atomic_load_explicit(&comm->passed, memory_order_relaxed) +
           (managed != NULL ? atomic_load_explicit(managed, memory_order_relaxed) : 0) - 1;
}

/* Returns the number in the log of the group of these ranks of the communicator, as
 * sg_group_of_members() does. ranks: twice as many elements as there are ranks; overwritten. */
int sg_profile_comm_group(MPI_Comm handle, int *ranks, int count);

/* Call before the handle is freed: another communicator may get the same handle. */
void sg_profile_comm_forget(MPI_Comm handle);

/* ---- groups of ranks in this rank's log, each once ----
 *
 * Any thread; takes a lock. Not from a signal handler.
 */

#define SG_NO_NUMBER (-1)

/* A log has at most so many. */
#define SG_GROUPS_MOST 16384

/* Returns the number of the group of these ranks of MPI_COMM_WORLD, in this order. Writes a new
 * group to the log. SG_NO_NUMBER: it cannot be written. */
int sg_group_of_members(const int *members, int size);

#endif
