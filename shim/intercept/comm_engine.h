/* Makes and frees a communicator's engine: finds where its members are and the memory they share
 * for it. Either all members have the engine, or none.
 *
 * Application threads, inside set-up, free or MPI_Finalize; not from a signal handler.
 */
#ifndef SG_INTERCEPT_COMM_ENGINE_H
#define SG_INTERCEPT_COMM_ENGINE_H

#include "intercept/comm.h"
#include "intranode/memory.h"

enum sg_comm_extent { SG_COMM_ONE_NODE, SG_COMM_ONE_MACHINE, SG_COMM_SEVERAL_MACHINES };

struct sg_comm_members {
    enum sg_comm_extent extent; /* smallest extent that contains all members */
    int *world_ranks;           /* by rank; NULL: out of memory */
};

/* Rank 0's segment on one machine, offered to the other members. */
struct sg_comm_offer {
    bool offers;
    int error; /* errno if it could not be made */
    struct sg_segment_ticket ticket;
};

/* Returns true for an intracommunicator with all members in MPI_COMM_WORLD. Every member gets the
 * same result (in the other world, too, where this world's ranks are the outsiders). The caller
 * frees out->world_ranks in any case. */
bool sg_comm_find_members(MPI_Comm handle, int size, struct sg_comm_members *out);

/* Rank 0 calls sg_comm_offer_engine before the others learn of the offer. Then all members, if
 * there are several, call sg_comm_make_engine, collectively over talk, a communicator of the same
 * group. */
void sg_comm_offer_engine(struct sg_comm *comm, const struct sg_comm_members *members,
                          struct sg_comm_offer *offer);
void sg_comm_make_engine(struct sg_comm *comm, MPI_Comm talk, const struct sg_comm_members *members,
                         const struct sg_comm_offer *offer);

/* Memory of this rank that others still read stays mapped in their processes. */
void sg_comm_free_engine(struct sg_comm *comm);

#endif
