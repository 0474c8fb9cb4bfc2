/* `stagger sim explore`: runs the protocols over hostile networks in many random orders, or in all
 * orders, and checks after every event what docs/algorithms.md promises.
 */
#ifndef SG_SIM_EXPLORE_H
#define SG_SIM_EXPLORE_H

/* argv[0] is "explore". Returns the exit status: 0, 1 on a violation or a rare state never reached
 * (or no memory), 2 on bad usage. */
int sg_explore_command(int argc, char **argv);

#endif
