/* A communicator's engine: where its members are, and what they share for it. All of them have it,
 * or none.
 */
#ifndef SG_INTERCEPT_COMM_ENGINE_H
#define SG_INTERCEPT_COMM_ENGINE_H

#include "intercept/comm.h"
#include "intranode/memory.h"

enum sg_comm_extent { SG_COMM_ONE_NODE, SG_COMM_ONE_MACHINE, SG_COMM_SEVERAL_MACHINES };

struct sg_comm_members {
    enum sg_comm_extent extent; /* of all of them */
    int *world_ranks;           /* by rank; NULL: out of memory */
};

/* Rank 0's segment on one machine. */
struct sg_comm_offer {
    bool offers;
    int error; /* errno where it could not be made */
    struct sg_segment_ticket ticket;
};

/* True when it is an intracommunicator with all members in MPI_COMM_WORLD. Every member finds the
 * same (in the other world too, where we are the outsiders). The caller frees out->world_ranks in
 * any case. */
bool sg_comm_find_members(MPI_Comm handle, int size, struct sg_comm_members *out);

/* By rank 0, before the others learn of the offer; then make by all of several members,
 * collectively over talk, a communicator of the same group. */
void sg_comm_offer_engine(struct sg_comm *comm, const struct sg_comm_members *members,
                          struct sg_comm_offer *offer);
void sg_comm_make_engine(struct sg_comm *comm, MPI_Comm talk, const struct sg_comm_members *members,
                         const struct sg_comm_offer *offer);

/* What others still read of this rank's stays mapped in their processes. */
void sg_comm_free_engine(struct sg_comm *comm);

#endif
