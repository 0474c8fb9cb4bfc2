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

/* The call on host memory, in place of the application's. */
struct sg_device_stage {
    struct sg_call call;
    const struct sg_call *staged; /* the application's */
    void *send, *receive;         /* in host memory; NULL: the application's buffer is used */
    size_t extent_bytes;
};

/* False: MPICH runs calls of this type on all ranks. */
bool sg_device_can_stage(const struct sg_call *call);
/* Makes the call on host memory. Returns an MPI error class without calling a handler; then there
 * is nothing to end. */
int sg_device_begin_stage(const struct sg_call *call, struct sg_device_stage *stage);
/* Copies the operand to host memory, before stage->call runs. */
int sg_device_fill_stage(const struct sg_device_stage *stage);
/* Copies the result, if the call has one, and frees. */
int sg_device_end_stage(struct sg_device_stage *stage, bool has_result);
/* For a nonblocking call, which cannot be staged: logs that and ends the job. */
void sg_device_end_job(const struct sg_call *call) __attribute__((noreturn));
/* Returns how many calls of this process had such buffers. */
uint64_t sg_device_calls(void);

#endif
