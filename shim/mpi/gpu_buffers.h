/* Finds out which buffers are in a GPU's memory, which the host cannot read, and runs calls with
 * such buffers.
 *
 * The driver library that the process has loaded (CUDA's, ROCm's or Level Zero's) reports it; a
 * process without one has no such buffers. The process looks for a new driver at most once a
 * millisecond: a driver and its device take a hundred times as long to start before they have
 * memory to give.
 *
 * Managed (unified) memory counts as the device's, although the host could read it: reading it
 * moves its pages. Host memory that a driver has pinned is the host's.
 *
 * Any application thread, not from a signal handler: it takes the loader's lock.
 */
#ifndef SG_MPI_GPU_BUFFERS_H
#define SG_MPI_GPU_BUFFERS_H

#include "mpi/call.h"

#include <stdbool.h>

/* Looks for a driver now; true if the process has one. */
bool sg_device_look(void);
/* The same, but the answer may be some ms old (ticks of the kernel's clock): costs 5 ns, for every
 * call. */
bool sg_device_is_there(void);
/* Returns the driver's library, for messages; "": none. */
const char *sg_device_driver(void);

/* ---- calls with buffers in a GPU's memory ----
 *
 * MPICH, which can read such buffers, runs these calls on all ranks.
 *
 * Only the rank itself knows that it has such a buffer. If any rank of a communicator had a driver
 * at set-up (sg_call.devices), the ranks of a node report their buffers to each other before each
 * call; between nodes MPICH runs all such calls. If a driver is loaded later, the other ranks do
 * not wait for a report and run the chosen algorithm. Then MPICH copies this rank's data to host
 * memory and the result back (packed.h does so for broadcasts).
 */

/* True if one of this rank's buffers is in a GPU's memory; counts such calls. */
bool sg_device_has_buffer(const struct sg_call *call);
/* Call when MPICH runs a call because of such buffers: rank 0 logs it once. */
void sg_device_say_mpich(const struct sg_call *call);

/* Type of the function that runs a call on host buffers. Returns what the MPI call returns. */
typedef int (*sg_device_runner)(const struct sg_call *call, const struct sg_choice *choice,
                                struct sg_call_statistics *statistics);

int sg_device_run_staged(const struct sg_call *call, const struct sg_choice *choice,
                         struct sg_call_statistics *statistics, sg_device_runner run);
/* For a nonblocking call, which cannot be staged: logs that and ends the job. */
void sg_device_end_job(const struct sg_call *call) __attribute__((noreturn));
/* Returns how many calls of this process had such buffers. */
uint64_t sg_device_calls(void);

#endif
