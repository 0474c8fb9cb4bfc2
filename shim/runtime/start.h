/* Start and stop: stagger runs from the return of MPI_Init to the call of MPI_Finalize. Outside of
 * that it does nothing. All of its own collective operations are here, except those that set up
 * communicators.
 *
 * It does not run in processes without MPI, launchers, children of fork, spawned processes,
 * programs that use only sessions (their ranks yield while they wait: wait/hook.h), and programs
 * under another MPI.
 */
#ifndef SG_RUNTIME_START_H
#define SG_RUNTIME_START_H

#include "core/status.h"

#include <stdint.h>

/* Functions of a module above this one that starts and stops with the process. */
struct sg_process_calls {
    /* In MPI_Init, collective, after everything else has started. */
    enum sg_status (*start)(void);
    /* In MPI_Finalize, collective, before everything else: completes outstanding operations. */
    void (*finish)(void);
    /* Collective, when the log is closed: releases what this rank shares with others. */
    void (*stop)(void);
};

/* Call after a successful MPI_Init or MPI_Init_thread; collective over MPI_COMM_WORLD. begin_ns:
 * when it was entered. Keeps the pointer calls. */
void sg_process_start(uint64_t begin_ns, const struct sg_process_calls *calls);

/* Call in MPI_Finalize, before MPICH's own; collective over MPI_COMM_WORLD. */
void sg_process_finalize(void);

/* Call in MPI_Abort; local. */
void sg_process_abort(void);

#endif
