/* What comes of a handler's actions in an explorer's world: what is sent is in flight from then on,
 * and everything is checked and, where somebody wants it, told.
 */
#ifndef SG_SIM_EXPLORE_ACTIONS_H
#define SG_SIM_EXPLORE_ACTIONS_H

#include "sim/explore/world.h"

extern const struct sg_host_scheduler sg_explore_scheduler;

/* The endpoint as the host sees it. */
struct sg_host_endpoint sg_explore_seen_by_host(const struct sg_explore_world *world,
                                                struct sg_explore_endpoint *endpoint);

#endif
