/* The way of one call: call site, communicator, choice of an algorithm, engine, log.
 *
 * In the application's thread; not from a signal handler. After a site, a communicator and a size
 * class have been seen once, no lock, no malloc and no system call (but one fallocate a 16384
 * calls) lies on it.
 */
#ifndef SG_INTERCEPT_DISPATCH_H
#define SG_INTERCEPT_DISPATCH_H

#include "mpi/call.h"

/* Runs a call while sg_process_running; returns what the MPI call returns. */
int sg_dispatch(struct sg_call *call, void *return_address);

#endif
