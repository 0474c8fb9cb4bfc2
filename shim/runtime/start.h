/* Start and stop: stagger is running from the return of MPI_Init to the call of MPI_Finalize.
 * Before, after, and in everything that is not an MPICH program it is inert. All collectives of its
 * own happen here, but for those that set up communicators.
 *
 * Not running: processes without MPI, launchers, children of fork, spawned processes, programs
 * that use only sessions, programs under a foreign MPI.
 */
#ifndef SG_RUNTIME_START_H
#define SG_RUNTIME_START_H

#include "core/status.h"

#include <stdint.h>

/* What starts and stops with the process but is built on top of it. */
struct sg_process_calls {
    /* In MPI_Init, collective, when all else is there. */
    enum sg_status (*start)(void);
    /* In MPI_Finalize, collective, first of all: ends what is outstanding. */
    void (*finish)(void);
    /* Collective, when the log is closed: lets go of what is shared with other ranks. */
    void (*stop)(void);
};

/* After a successful MPI_Init or MPI_Init_thread; collective over MPI_COMM_WORLD. begin_ns is
 * when it was entered. calls is kept. */
void sg_process_start(uint64_t begin_ns, const struct sg_process_calls *calls);

/* At the call of MPI_Finalize, before MPICH's own; collective over MPI_COMM_WORLD. */
void sg_process_finalize(void);

/* At MPI_Abort: local. */
void sg_process_abort(void);

#endif
