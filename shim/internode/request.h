/* Work of the library as an MPI request of the application: a generalized request, which MPICH
 * polls in MPI_Test and the like, and waits for in MPI_Waitall (MPIX_Grequest_start). Before other
 * MPI functions, the wrappers call sg_request_wait or sg_request_poll.
 *
 * In application threads; not from a signal handler.
 */
#ifndef SG_INTERNODE_REQUEST_H
#define SG_INTERNODE_REQUEST_H

#include "internode/internode.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* The application's waits for a request. */
struct sg_request_times {
    uint64_t started_ns;   /* when the call returned */
    uint64_t completed_ns; /* when the request was completed */
    uint64_t exposed_ns;   /* time of it spent in waits and tests */
    uint64_t slice;        /* slice in which it ran, as in the call's statistics */
    uint32_t tests;        /* number of tests: those in close succession count as one */
};

/* The work behind a request. */
struct sg_request_ops {
    bool (*is_done)(const void *work);
    /* Progresses without sleeping. True: the work is done. */
    bool (*poll)(void *work);
    void (*wait)(void *work);
    /* Called once when the work is done, by the thread that waits or tests. */
    void (*complete)(void *work, struct sg_request_times *times);
    /* Fills the status; returns the operation's own error class. */
    int (*query)(const void *work, MPI_Status *status);
    /* Called last. */
    void (*free)(void *work);
};

struct sg_request;

/* Makes a request for work that has not begun. On an error there is no request, and no error
 * handler has been called. */
int sg_request_make(const struct sg_request_ops *ops, void *work, MPI_Request *handle,
                    struct sg_request **out);
/* Marks the work as begun; it may also be done. */
void sg_request_begun(struct sg_request *request);
/* Called before MPI_Wait, in which MPICH polls without a pause, and MPI_Request_get_status, in
 * which it does not poll; before the latter MPICH also catches up (wait/catch_up.h). Ignore
 * requests that are not the library's. */
void sg_request_wait(MPI_Request handle);
void sg_request_poll(MPI_Request handle);
/* Completes finished requests that the application has freed. */
void sg_request_reap(void);

/* ---- a nonblocking collective as a request ---- */

/* Called once when the request is completed, by the thread that waits or tests. */
typedef void (*sg_request_completed)(void *context, const struct sg_request_times *times);

/* Starts the plan's call and sets its request. On an error nothing has been started, and no error
 * handler has been called. completed may be NULL. */
int sg_request_start(const struct sg_internode_plan *plan, sg_request_completed completed,
                     void *context, struct sg_call_statistics *statistics);

#endif
