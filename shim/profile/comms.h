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
#include <stdint.h>

struct sg_profile_comm {
    uint32_t index; /* in this rank's log; 0: it could not be written */
    bool is_inter;
    int rank;
    int size;  /* of the local group */
    int peers; /* of the remote group, if there is one, else of the local one */
    /* Of the topology; 0: there is none. */
    int in_degree, out_degree;
    /* Collectives that MPICH carried out, and those of the library. */
    _Atomic uint32_t passed;
    _Atomic(const atomic_uint *) managed; /* NULL: there are none */
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

/* The collectives that the library carries out on a communicator are counted there. */
void sg_profile_comm_link(MPI_Comm handle, const atomic_uint *managed);

/* The place of a collective that MPICH has carried out in the order of all on its communicator: the
 * same on all ranks. */
uint32_t sg_profile_comm_order(struct sg_profile_comm *comm);

/* Before the handle is given up: another communicator may get the same. */
void sg_profile_comm_forget(MPI_Comm handle);

#endif
