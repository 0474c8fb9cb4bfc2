/* Stand-ins for UCX's functions through which MPICH sends: they tell sg_wakes whom a message goes
 * to (wakes.h). Other code's calls are not affected.
 */
#ifndef SG_WAIT_UCX_SENDS_H
#define SG_WAIT_UCX_SENDS_H

#include <stdbool.h>

/* Before MPICH starts. False: MPICH sends in other ways, too, or not in all of these. */
bool sg_ucx_sends_start(void);

#endif
