/* Groups of ranks in this rank's log, each once.
 *
 * Any thread; takes a lock. Not from a signal handler.
 */
#ifndef SG_PROFILE_GROUPS_H
#define SG_PROFILE_GROUPS_H

#define SG_NO_NUMBER (-1)

/* The number of the group of these ranks of MPI_COMM_WORLD, in this order, which is written to the
 * log when it is new; SG_NO_NUMBER: it cannot be written. */
int sg_group_of_members(const int *members, int size);

#endif
