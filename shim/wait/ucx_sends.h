/* Overrides of UCX's functions through which MPICH sends: they tell sg_wakes whom a message goes to
 * (wakes.h). Other code's calls proceed to the functions that they would have called (caller.h).
 */
#ifndef SG_WAIT_UCX_SENDS_H
#define SG_WAIT_UCX_SENDS_H

#include <stdbool.h>

/* Before MPICH starts. False: some function is not MPICH's. */
bool sg_ucx_sends_start(void);
/* Then: true if MPICH sends by no other functions. */
bool sg_ucx_sends_are_all(void);

#endif
