/* Calls with buffers in a GPU's memory. MPICH, which can read them, runs them on all ranks.
 *
 * Only the rank itself knows that it has such a buffer. If any rank of a communicator had a driver
 * when the communicator was set up (sg_call.devices), the ranks of a node tell each other in each
 * call, before it begins; between nodes all such calls are MPICH's there. If a driver comes
 * later, the other ranks do not wait for such a word and run the chosen algorithm. Then MPICH
 * copies this rank's data to host memory and the result back (packed.h does so of broadcasts).
 */
#ifndef SG_MPI_DEVICE_CALL_H
#define SG_MPI_DEVICE_CALL_H

#include "mpi/call.h"

/* Whether one of this rank's buffers is a GPU's; counts such calls. */
bool sg_device_has_buffer(const struct sg_call *call);

/* On a call that is MPICH's for it: rank 0 says so, once. */
void sg_device_say_mpich(const struct sg_call *call);

/* The call as `run` makes it of buffers on the host. Returns what the MPI call returns. */
typedef int (*sg_device_runner)(const struct sg_call *call, const struct sg_choice *choice,
                                struct sg_call_statistics *statistics);
int sg_device_run_staged(const struct sg_call *call, const struct sg_choice *choice,
                         struct sg_call_statistics *statistics, sg_device_runner run);

/* A nonblocking call cannot be staged: says so, and ends the job. */
void sg_device_end_job(const struct sg_call *call) __attribute__((noreturn));

/* Calls of this process that had such buffers. */
uint64_t sg_device_calls(void);

#endif
