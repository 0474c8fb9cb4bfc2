/* What comes of a handler's actions in an explorer's world: what is sent is in flight from then on,
 * and everything is checked and, where somebody wants it, told.
 */
#ifndef SG_SIM_EXPLORE_ACTIONS_H
#define SG_SIM_EXPLORE_ACTIONS_H

#include "sim/explore/world.h"

extern const struct sg_host_scheduler sg_explore_scheduler;

#endif
