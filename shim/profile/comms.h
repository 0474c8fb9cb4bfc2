/* Communicators as the profile knows them: a number in the log, and what a call's bytes depend on.
 *
 * Any thread; look-ups take no lock. Not from a signal handler. Nothing is agreed with other ranks.
 */
#ifndef SG_PROFILE_COMMS_H
#define SG_PROFILE_COMMS_H

#include <mpi.h>
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
};

/* NULL: of MPI_COMM_NULL, of no communicator at all, or there is no memory. */
const struct sg_profile_comm *sg_profile_comm_of(MPI_Comm handle);

/* Before the handle is given up: another communicator may get the same. */
void sg_profile_comm_forget(MPI_Comm handle);

#endif
