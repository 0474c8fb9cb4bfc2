/* The way of one call: communicator, call site, rule, record, engine, record.
 *
 * In the application's thread; not from a signal handler. After a site, a communicator and a size
 * class have been seen once, no lock, no malloc and no system call (but one fallocate a 16384
 * calls) lies on it.
 */
#ifndef SG_INTERCEPT_DISPATCH_H
#define SG_INTERCEPT_DISPATCH_H

#include "intercept/stack.h"
#include "mpi/call.h"

/* Runs a call while sg_process_running; returns what the MPI call returns. */
int sg_dispatch(struct sg_call *call, void *return_address);

/* Ends the record of a call of this thread that an error handler has left by an exception or
 * longjmp, or calls from. */
void sg_dispatch_settle(void);

/* For MPI functions whose callbacks all ranks run: what those call passes through, as long as the
 * caller's frame is on the stack. frame and caller are the caller's __builtin_frame_address(0) and
 * __builtin_return_address(0). sg_dispatch_release takes what sg_dispatch_hold returned. */
struct sg_stack_frame sg_dispatch_hold(void *frame, void *caller);
void sg_dispatch_release(struct sg_stack_frame before);

/* Index of the calling thread among those that record: 0 is the one that called MPI_Init. */
uint16_t sg_dispatch_thread(void);

#endif
