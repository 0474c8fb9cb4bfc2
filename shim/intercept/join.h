/* A communicator's engine: where its members are, and what they share for it. All of them have it,
 * or none.
 */
#ifndef SG_INTERCEPT_JOIN_H
#define SG_INTERCEPT_JOIN_H

#include "intercept/comm.h"
#include "intranode/segment.h"

enum sg_join_place { SG_JOIN_ONE_NODE, SG_JOIN_ONE_MACHINE, SG_JOIN_SEVERAL_MACHINES };

/* Rank 0's segment on one machine. */
struct sg_join_offer {
    bool offers;
    int error; /* errno where it could not be made */
    struct sg_segment_ticket ticket;
};

/* True when all members are in MPI_COMM_WORLD; their world ranks then go to ranks[size], unless
 * NULL, and *place is set. Every member finds the same (in the other world too, where we are
 * the outsiders). */
bool sg_join_world_ranks(MPI_Comm handle, int size, int *ranks, enum sg_join_place *place);

/* By rank 0, before the others learn of the offer; sg_join by all of several members, collectively
 * over talk, a communicator of the same group. */
void sg_join_offer(struct sg_comm *comm, MPI_Comm handle, enum sg_join_place place,
                   struct sg_join_offer *offer);
void sg_join(struct sg_comm *comm, MPI_Comm handle, MPI_Comm talk, enum sg_join_place place,
             const struct sg_join_offer *offer);

/* What others still read of this rank's stays mapped in their processes. */
void sg_join_free(struct sg_comm *comm);

#endif
