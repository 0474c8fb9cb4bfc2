/* The way of one call: communicator, call site, rule, record, engine, record.
 *
 * In the application's thread; not from a signal handler. After a site, a communicator and a size
 * class have been seen once, no lock, no malloc and no system call (but one fallocate a 16384
 * calls) lies on it.
 */
#ifndef SG_INTERCEPT_DISPATCH_H
#define SG_INTERCEPT_DISPATCH_H

#include "engine/engine.h"

/* Runs a call while sg_process_running; returns what the MPI call returns. */
int sg_dispatch(struct sg_call *call, void *return_address);

/* For MPI calls that run the application's callbacks: what those call passes through, until
 * sg_dispatch_release with what sg_dispatch_hold returned. */
uintptr_t sg_dispatch_hold(void);
void sg_dispatch_release(uintptr_t held);

/* Index of the calling thread among those that record: 0 is the one that called MPI_Init. */
uint16_t sg_dispatch_thread(void);

#endif
