/* Communicators as the profile knows them: a number in the log, and what a call's bytes depend on.
 *
 * A communicator is identified when it is made (identity.h), and written to the log when a call on
 * it is counted first: by then it has its name. Where statistics alone are kept, the number of one
 * that was freed is given to the next one with its members and name.
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
    int peers;    /* of the remote group, if there is one, else of the local one */
    uint64_t key; /* who it is, the same on all its members; 0: not known, or it has only one */
    /* Of the topology; 0: there is none. */
    int in_degree, out_degree;
    /* Collectives that MPICH carried out, and those of the library. */
    _Atomic uint32_t passed;
    _Atomic(const atomic_uint *) managed; /* NULL: there are none */
    _Atomic uint32_t windows;             /* that were made on it */
};

/* MPI_COMM_WORLD and MPI_COMM_SELF get the numbers 1 and 2. */
void sg_profile_comms_start(void);

/* How a communicator was made. */
struct sg_profile_birth {
    MPI_Comm parent;  /* MPI_COMM_NULL: of none */
    bool is_ordered;  /* all members of the parent take part */
    bool has_members; /* the parent has the same ones, and the new one cannot be used yet */
};

void sg_profile_comm_made(MPI_Comm handle, const struct sg_profile_birth *birth);
/* NULL: of MPI_COMM_NULL, of no communicator at all, or there is no memory. */
struct sg_profile_comm *sg_profile_comm_of(MPI_Comm handle);
/* The number of one that has been seen already; 0: of others. */
uint32_t sg_profile_comm_index(MPI_Comm handle);
/* Between groups 1 + the rank in MPI_COMM_WORLD of a rank of the remote one; 0: it is not known, or
 * the communicator has one group. index: its number. Takes a lock. */
uint32_t sg_profile_comm_world(uint32_t index, int peer);
/* The collectives that the library carries out on a communicator are counted there. NULL: see
 * above. */
struct sg_profile_comm *sg_profile_comm_link(MPI_Comm handle, const atomic_uint *managed);
/* The place of a collective that MPICH has carried out in the order of all on its communicator: the
 * same on all ranks. */
uint32_t sg_profile_comm_order(struct sg_profile_comm *comm);

/* That of the last one, whoever has carried it out. */
static inline uint32_t sg_profile_comm_last(const struct sg_profile_comm *comm)
{
    const atomic_uint *managed = atomic_load_explicit(&comm->managed, memory_order_relaxed);

    return atomic_load_explicit(&comm->passed, memory_order_relaxed) +
           (managed != NULL ? atomic_load_explicit(managed, memory_order_relaxed) : 0) - 1;
}

/* Before the handle is given up: another communicator may get the same. */
void sg_profile_comm_forget(MPI_Comm handle);

/* Groups of ranks in this rank's log, each once.
 *
 * Any thread; takes a lock. Not from a signal handler.
 */

#define SG_NO_NUMBER (-1)

/* The number of the group of these ranks of MPI_COMM_WORLD, in this order, which is written to the
 * log when it is new; SG_NO_NUMBER: it cannot be written. */
int sg_group_of_members(const int *members, int size);

#endif
