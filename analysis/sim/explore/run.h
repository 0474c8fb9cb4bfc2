/* Runs one scenario to its end or its first violation, choosing at random by its schedule: until
 * scenario.steps among all that is possible, faults included, then fairly. */
#ifndef SG_SIM_EXPLORE_RUN_H
#define SG_SIM_EXPLORE_RUN_H

#include "sim/explore/world.h"

/* False when there is no memory. The outcome is in the world. */
bool sg_explore_run(struct sg_explore_world *world, const struct sg_explore_scenario *scenario);

#endif
