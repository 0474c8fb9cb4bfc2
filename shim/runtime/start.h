/* Start and stop: stagger runs from the return of MPI_Init to the call of MPI_Finalize. Before and
 * after that, and in everything that is not an MPICH program, it does nothing. All collective
 * operations of its own take place here, except those that set up communicators.
 *
 * It does not run in processes without MPI, launchers, children of fork, spawned processes,
 * programs that use only sessions (whose ranks give way while they wait: wait/hook.h), and programs
 * under another MPI.
 */
#ifndef SG_RUNTIME_START_H
#define SG_RUNTIME_START_H

#include "core/status.h"

#include <stdint.h>

/* Modules above this one that start and stop with the process. */
struct sg_process_calls {
    /* In MPI_Init, collective, when everything else has started. */
    enum sg_status (*start)(void);
    /* In MPI_Finalize, collective, first of all: completes what is outstanding. */
    void (*finish)(void);
    /* Collective, when the log is closed: releases what is shared with other ranks. */
    void (*stop)(void);
};

/* After a successful MPI_Init or MPI_Init_thread; collective over MPI_COMM_WORLD. begin_ns: when it
 * was entered. Keeps the pointer calls. */
void sg_process_start(uint64_t begin_ns, const struct sg_process_calls *calls);

/* When MPI_Finalize is called, before MPICH's own; collective over MPI_COMM_WORLD. */
void sg_process_finalize(void);

/* At MPI_Abort: local. */
void sg_process_abort(void);

#endif
