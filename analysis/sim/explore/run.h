/* Runs one scenario to its end or its first violation. Its schedule chooses among all possible
 * steps, faults included, at random for scenario.steps steps, then fairly and without faults. */
#ifndef SG_SIM_EXPLORE_RUN_H
#define SG_SIM_EXPLORE_RUN_H

#include "sim/explore/world.h"

/* False when there is no memory. The outcome is in the world. */
bool sg_explore_run(struct sg_explore_world *world, const struct sg_explore_scenario *scenario);

#endif
