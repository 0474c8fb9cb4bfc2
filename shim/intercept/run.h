/* Runs one collective: by MPICH, inside a node, or between nodes.
 *
 * Called in the application's thread, inside the intercepted call; never from a signal handler.
 */
#ifndef SG_INTERCEPT_RUN_H
#define SG_INTERCEPT_RUN_H

#include "mpi/call.h"

struct sg_internode_plan;

/* Returns what the MPI call returns. */
int sg_call_run(const struct sg_call *call, const struct sg_choice *choice,
                struct sg_call_statistics *statistics);

/* Whether the others come to the call's position without this rank's word. False of a call that
 * MPICH runs: it does not wait for them, least of all where it fails. */
bool sg_call_is_met(const struct sg_call *call, const struct sg_choice *choice);

/* Of a nonblocking call. *choice becomes the one that all ranks follow. False, alike on all ranks:
 * it is MPICH's; else it is for sg_request_start. */
bool sg_call_plan_nonblocking(const struct sg_call *call, const struct sg_choice **choice,
                              struct sg_internode_plan *plan);

#endif
