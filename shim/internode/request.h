/* Work of the library's as an MPI request of the application's: a generalized request, which MPICH
 * polls in MPI_Test and the like, and waits for in MPI_Waitall (MPIX_Grequest_start). Before other
 * functions of MPI's the wrappers call sg_request_wait or sg_request_poll.
 *
 * In the application's threads; not from a signal handler.
 */
#ifndef SG_INTERNODE_REQUEST_H
#define SG_INTERNODE_REQUEST_H

#include "internode/internode.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* How the application waited for its request. */
struct sg_request_times {
    uint64_t started_ns;   /* the call returned */
    uint64_t completed_ns; /* the request was completed */
    uint64_t exposed_ns;   /* in between, in waits and tests */
    uint64_t slice;        /* that it ran in, as in the call's statistics */
    uint32_t tests;        /* their number: calls that follow each other closely count as one */
};

/* What a request is of. */
struct sg_request_ops {
    bool (*is_done)(const void *work);
    /* Goes on with it, without sleeping. True: it is done. */
    bool (*poll)(void *work);
    void (*wait)(void *work);
    /* When it is done: once, by the thread that waits or tests. */
    void (*complete)(void *work, struct sg_request_times *times);
    /* Fills the status; returns the operation's own error class. */
    int (*query)(const void *work, MPI_Status *status);
    /* Last. */
    void (*free)(void *work);
};

struct sg_request;

/* Makes a request of work that has not begun. An error: there is none, and no error handler has
 * been called. */
int sg_request_make(const struct sg_request_ops *ops, void *work, MPI_Request *handle,
                    struct sg_request **out);
/* The work has begun, and may be done. */
void sg_request_begun(struct sg_request *request);
/* Before MPI_Wait, in which MPICH polls without a pause, and MPI_Request_get_status, in which it
 * does not poll; before the latter MPICH catches up, too (wait/catch_up.h). Ignores requests that
 * are not the library's. */
void sg_request_wait(MPI_Request handle);
void sg_request_poll(MPI_Request handle);
/* Completes requests that the application has freed and whose operation is complete. */
void sg_request_reap(void);

/* A nonblocking collective as a request. */

/* When the request is completed: once, by the thread that waits or tests. */
typedef void (*sg_request_completed)(void *context, const struct sg_request_times *times);

/* Starts the call and sets *call->request. If it returns an error nothing has been started, and no
 * error handler has been called. completed may be NULL. */
int sg_request_start(const struct sg_call *call, const struct sg_internode_plan *plan,
                     sg_request_completed completed, void *context,
                     struct sg_call_statistics *statistics);

#endif
