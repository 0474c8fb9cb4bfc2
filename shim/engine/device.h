/* Memory that the host cannot read: which buffers a GPU's driver says are its own.
 *
 * Nothing is loaded for it: the driver library that is in the process already (CUDA's, ROCm's or
 * Level Zero's) is asked, and in a process without one nothing is. Whether one has come is looked
 * for at most each millisecond: between the loading of a driver and the first memory it has to give
 * lie its start and that of its device, which take a hundred times as long.
 *
 * Managed (unified) memory, which the host could read, counts as the device's: reading it moves its
 * pages. Host memory that a driver has pinned is the host's.
 *
 * Any application thread, not from a signal handler: it takes the loader's lock.
 */
#ifndef SG_ENGINE_DEVICE_H
#define SG_ENGINE_DEVICE_H

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
