/* The effects of a handler's actions in an explorer's world: what is sent is in flight from then
 * on, everything is checked, and if asked for written to the trace.
 */
#ifndef SG_SIM_EXPLORE_ACTIONS_H
#define SG_SIM_EXPLORE_ACTIONS_H

#include "sim/explore/world.h"

extern const struct sg_host_scheduler sg_explore_scheduler;

#endif
