/* Runs an intercepted collective: finds call site and communicator, chooses an algorithm, runs the
 * engine, writes the log.
 *
 * Application's thread; not from a signal handler. Once a site, a communicator and a size class
 * have been seen, this path has no lock, no malloc and no system call (except one fallocate every
 * 16384 calls).
 */
#ifndef SG_INTERCEPT_DISPATCH_H
#define SG_INTERCEPT_DISPATCH_H

#include "mpi/call.h"

/* Runs a call while sg_process_running. Returns what the MPI call returns. */
int sg_dispatch(struct sg_call *call, void *return_address);

#endif
