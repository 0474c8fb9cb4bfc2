/* The kernel's groups of processes among which it divides a processor first (sched(7), "The
 * autogroup feature"): each session has one, and MPICH's launcher starts every rank in a session of
 * its own. sched_yield gives a processor to others of the same group alone.
 *
 * Any thread; not from a signal handler.
 */
#ifndef SG_WAIT_SCHEDULING_GROUP_H
#define SG_WAIT_SCHEDULING_GROUP_H

#include <stdint.h>

/* Of this process. proc: where proc(5) is. 0: no such groups are used, as with autogroups switched
 * off, or in a control group for processors, which comes before them. */
uint64_t sg_scheduling_group(const char *proc);

#endif
