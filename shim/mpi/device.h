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
#ifndef SG_MPI_DEVICE_H
#define SG_MPI_DEVICE_H

#include <stdbool.h>

/* Whether there is a driver in the process, looked for now. */
bool sg_device_look(void);

/* The same as of the last ticks of the kernel's clock, some ms: at 5 ns, for every call. */
bool sg_device_is_there(void);

/* Looks as sg_device_is_there does. */
bool sg_device_holds(const void *buffer);

/* The driver's library, for messages; "" where there is none. */
const char *sg_device_driver(void);

#endif
