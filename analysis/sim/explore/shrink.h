/* From a seed with a violation to the smallest part of its scenario that still has one: fewer
 * instances, processes, communicators and faults, and a shorter prefix of random choices. */
#ifndef SG_SIM_EXPLORE_SHRINK_H
#define SG_SIM_EXPLORE_SHRINK_H

#include "sim/explore/world.h"

/* Reduces subject->cut; world is used for the runs. */
void sg_explore_shrink(struct sg_explore_world *world, struct sg_explore_subject *subject);

/* Draws the scenario and runs it; false when the seed gives no scenario or there is no memory. */
bool sg_explore_run_subject(struct sg_explore_world *world,
                            const struct sg_explore_subject *subject,
                            struct sg_explore_scenario *scenario);

/* "--algo bypass --first 17 --seeds 1 ...": the arguments that run it again. */
void sg_explore_print_replay(const struct sg_explore_subject *subject, FILE *out);

/* Parses what print_replay writes after --only. False: *wrong is the part that is not valid. */
bool sg_explore_cut_read(const char *text, struct sg_explore_cut *cut, const char **wrong);

#endif
