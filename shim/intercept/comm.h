/* State of communicators: whether they are managed, their identity on every rank, and how many
 * collectives they ran; and the table from a handle to its state.
 *
 * Thread-safe: look-ups that find a state take no lock. Not from a signal handler.
 */
#ifndef SG_INTERCEPT_COMM_H
#define SG_INTERCEPT_COMM_H

#include "core/exchange.h"
#include "core/text.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sg_choice;
struct sg_profile_comm;
struct sg_unmet;
struct sg_intranode;
struct sg_internode;

#define SG_COMM_UNRECORDED UINT32_MAX

/* The last choice made for an operation. */
struct sg_comm_choice {
    uint64_t bytes;
    const struct sg_site *site; /* NULL if the choice does not depend on the site */
    const struct sg_choice *choice;
};

struct sg_comm {
    _Atomic(MPI_Comm) handle;
    bool devices; /* some rank had a GPU driver at set-up */
    bool managed; /* false: intercommunicator, or members outside MPI_COMM_WORLD */
    bool moves;   /* its attribute is being set again: the deletion does not end it */
    int rank;
    int size;
    uint32_t index;  /* in this rank's log; SG_COMM_UNRECORDED: could not be written */
    atomic_uint seq; /* number of the next collective */
    struct sg_profile_comm *profile; /* its entry in the profile of all MPI calls; NULL: none */
    struct sg_unmet *unmet;          /* calls that may have failed on this rank alone; NULL: none */
    struct sg_comm_choice last[SG_OPERATION_COUNT];
    struct sg_intranode *intranode; /* the engine if all members share a node; else NULL */
    struct sg_internode *internode; /* the engine if they are on several nodes; else NULL */
    int messages_rule;              /* the rule that carries its messages; -1: MPICH does */
    bool is_sliced;                 /* slices carry its messages */
    bool is_rendezvous;             /* a send returns when it has been received (send=rendezvous) */
    MPI_Comm talk;                  /* a communicator of the same group, for set-up */
    struct sg_exchange exchange;    /* over talk, by collectives alone */
    char name[MPI_MAX_OBJECT_NAME]; /* as on rank 0 */
    struct sg_comm_choice trial[SG_OPERATION_COUNT]; /* the last choice that stands for a trial */
    _Atomic(struct sg_comm *) next;                  /* in its bucket, or in a list */
};

/* Returns the state of a communicator; NULL: it is not set up. MPI_COMM_WORLD and MPI_COMM_SELF
 * always have one. */
struct sg_comm *sg_comm_find(MPI_Comm handle);

/* Take returns a state outside the table, for the caller to fill; NULL: out of memory. Insert
 * enters it under the handle. Remove takes it out but keeps it until its end, as look-ups of other
 * handles may still pass through it and operations may be pending. Remove does not wait. */
struct sg_comm *sg_comm_take(void);
void sg_comm_insert(struct sg_comm *comm, MPI_Comm handle);
void sg_comm_remove(struct sg_comm *comm);

/* Calls has_ended for every removed state; if it returns true, the state is reused. No other thread
 * has the state meanwhile. */
void sg_comm_end_removed(bool (*has_ended)(struct sg_comm *comm));

/* Calls what for every communicator in the table. */
void sg_comm_each(void (*what)(struct sg_comm *comm));

#endif
