/* Which buffers lie in a GPU's memory, which the host cannot read.
 *
 * The driver library that the process has loaded (CUDA's, ROCm's or Level Zero's) tells; a process
 * without one has no such buffers. A new driver is looked for at most once a millisecond: the start
 * of a driver and its device, before it has memory to give, takes a hundred times as long.
 *
 * Managed (unified) memory, which the host could read, counts as the device's: reading it moves its
 * pages. Host memory that a driver has pinned is the host's.
 *
 * Any application thread, not from a signal handler: it takes the loader's lock.
 */
#ifndef SG_MPI_GPU_BUFFERS_H
#define SG_MPI_GPU_BUFFERS_H

#include "mpi/call.h"

#include <stdbool.h>

/* Whether there is a driver in the process, looked for now. */
bool sg_device_look(void);
/* The same as of the last ticks of the kernel's clock, some ms: at 5 ns, for every call. */
bool sg_device_is_there(void);
/* The driver's library, for messages; "" where there is none. */
const char *sg_device_driver(void);

/* Calls with buffers in a GPU's memory. MPICH, which can read them, runs them on all ranks.
 *
 * Only the rank itself knows that it has such a buffer. If any rank of a communicator had a driver
 * when the communicator was set up (sg_call.devices), the ranks of a node tell each other in each
 * call, before it begins; between nodes all such calls are MPICH's there. If a driver comes
 * later, the other ranks do not wait for such a word and run the chosen algorithm. Then MPICH
 * copies this rank's data to host memory and the result back (packed.h does so of broadcasts).
 */

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
