/* The state of communicators: which are managed, who they are on every rank, how many collectives
 * they ran; and the table from a handle to its state.
 *
 * Thread-safe: look-ups take no lock. Not from a signal handler.
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

/* The choice made last for an operation. */
struct sg_comm_choice {
    uint64_t bytes;
    const struct sg_site *site; /* NULL where it does not depend on that */
    const struct sg_choice *choice;
};

struct sg_comm {
    _Atomic(MPI_Comm) handle;
    bool devices; /* some rank had a GPU's driver at set-up */
    bool managed; /* false: intercommunicator, or members outside MPI_COMM_WORLD */
    bool moves;   /* its attribute is about to be set again */
    int rank;
    int size;
    uint32_t index;  /* in this rank's log; SG_COMM_UNRECORDED: could not be written */
    atomic_uint seq; /* of the next collective */
    struct sg_profile_comm *profile; /* among all calls; NULL: not there */
    struct sg_unmet *unmet;          /* calls that failed on this rank alone, perhaps; NULL: none */
    struct sg_comm_choice last[SG_OPERATION_COUNT];
    struct sg_intranode *intranode; /* the engine where all members share a node; else NULL */
    struct sg_internode *internode; /* the engine where they are on several nodes; else NULL */
    int messages_rule;              /* by which its messages are to be carried; -1: MPICH's */
    bool is_sliced;                 /* they are */
    bool is_rendezvous;             /* a send returns when it has been received (send=rendezvous) */
    MPI_Comm talk;                  /* of the same group, and over it: */
    struct sg_exchange exchange;    /* ... of the communicator, by collectives alone */
    char name[MPI_MAX_OBJECT_NAME]; /* rank 0's */
    struct sg_comm_choice trial[SG_OPERATION_COUNT]; /* the last that stood for a trial */
    _Atomic(struct sg_comm *) next;                  /* in its bucket, or among the spare */
};

/* The state of a communicator; NULL: it is not set up. MPI_COMM_WORLD and MPI_COMM_SELF always have
 * theirs. */
struct sg_comm *sg_comm_find(MPI_Comm handle);

/* A state that is in no table, to be filled; NULL: out of memory. Insert makes it the handle's.
 * Remove ends that: the state is kept until its end, as look-ups of other handles may still pass
 * through it, and operations may be pending. Remove waits for nothing. */
struct sg_comm *sg_comm_take(void);
void sg_comm_insert(struct sg_comm *comm, MPI_Comm handle);
void sg_comm_remove(struct sg_comm *comm);

/* Calls has_ended for every removed state; true: it is to be used again. No other thread has the
 * state meanwhile. */
void sg_comm_end_removed(bool (*has_ended)(struct sg_comm *comm));

/* Calls what for every communicator there is. */
void sg_comm_each(void (*what)(struct sg_comm *comm));

#endif
