/* The kernel's autogroups, among which it divides a processor first (sched(7), "The autogroup
 * feature"): each session has one, and MPICH's launcher starts every rank in a separate session.
 * sched_yield yields a processor only to threads of the same group.
 *
 * Any thread; not from a signal handler.
 */
#ifndef SG_WAIT_SCHEDULING_GROUP_H
#define SG_WAIT_SCHEDULING_GROUP_H

#include <stdint.h>

/* Returns this process's group. proc: path of proc(5). 0: no autogroups apply, because they are
 * switched off, or a control group for processors takes precedence. */
uint64_t sg_scheduling_group(const char *proc);

#endif
