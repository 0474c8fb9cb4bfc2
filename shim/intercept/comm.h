/* Communicators: which are managed, who they are on every rank, how many collectives they ran.
 *
 * A communicator is set up inside its first blocking collective, after MPICH's call has returned
 * success (argument errors so stay MPICH's), by one broadcast from its rank 0. Its state is kept as
 * an attribute, whose delete callback tells when the handle becomes free for reuse; a table from
 * handle to state serves the look-up. MPI_COMM_WORLD and MPI_COMM_SELF are set up at start.
 *
 * Thread-safe: look-ups take no lock. Not from a signal handler.
 */
#ifndef SG_INTERCEPT_COMM_H
#define SG_INTERCEPT_COMM_H

#include "core/exchange.h"
#include "core/operation.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sg_choice;
struct sg_local;
struct sg_span;

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
    struct sg_comm_choice last[SG_OPERATION_COUNT];
    struct sg_local *local;         /* the engine where all members share a node; else NULL */
    struct sg_span *span;           /* the engine where they are on several nodes; else NULL */
    MPI_Comm talk;                  /* of the same group, and over it: */
    struct sg_exchange exchange;    /* ... of the span, by collectives alone */
    char name[MPI_MAX_OBJECT_NAME]; /* rank 0's */
    struct sg_comm_choice trial[SG_OPERATION_COUNT]; /* likewise the last that stood for a trial */
    _Atomic(struct sg_comm *) next;                  /* in its bucket, or among the spare */
};

/* Sets up MPI_COMM_WORLD and MPI_COMM_SELF; after sg_process's rank, size and log are set. */
enum sg_status sg_comm_start(void);

/* The state of a communicator, or NULL when it is not set up. */
struct sg_comm *sg_comm_find(MPI_Comm handle);

/* Collective over the communicator (unless every member can tell that it is not managed). NULL
 * when out of memory. */
struct sg_comm *sg_comm_set_up(MPI_Comm handle);

/* Before MPI_Comm_free and MPI_Comm_disconnect, collective: the communicator's state is the first
 * of its attributes to be deleted, and what is outstanding is over: while operations of MPICH's are
 * pending MPICH deletes the attributes later, in its progress, where it must not be called. Where
 * members are on several machines, none is reached by others any more. */
void sg_comm_part(MPI_Comm handle);

/* At MPI_Finalize. Drain: what is outstanding on any communicator is brought to its end; until then
 * others may wait for it in their collectives, and nothing collective may be asked of them. */
void sg_comm_drain(void);
void sg_comm_stop(void);

#endif
