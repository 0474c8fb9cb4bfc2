/* Runs scenarios, and reduces a seed with a violation to the smallest part of its scenario that
 * still has one: fewer instances, processes, communicators and faults, and a shorter prefix of
 * random choices. */
#ifndef SG_VERIFY_SHRINK_H
#define SG_VERIFY_SHRINK_H

#include "verify/world.h"

/* Reduces subject->cut; uses world for the runs. */
void sg_explore_shrink(struct sg_explore_world *world, struct sg_explore_subject *subject);
/* Draws the scenario and runs it; false when the seed gives no scenario or memory runs out. */
bool sg_explore_run_subject(struct sg_explore_world *world,
                            const struct sg_explore_subject *subject,
                            struct sg_explore_scenario *scenario);
/* Prints the command that runs it again: "stagger sim explore --algo bypass --first 17 --seeds 1
 * ...". */
void sg_explore_print_replay(const struct sg_explore_subject *subject, FILE *out);
/* Parses the text that print_replay writes after --only. False: *wrong is the invalid part. */
bool sg_explore_cut_read(const char *text, struct sg_explore_cut *cut, const char **wrong);

/* Runs one scenario to its end or its first violation. The schedule chooses among all possible
 * steps, faults included, at random for scenario.steps steps, then fairly and without faults. */

/* Leaves the outcome in the world. False when memory runs out. */
bool sg_explore_run(struct sg_explore_world *world, const struct sg_explore_scenario *scenario);

#endif
