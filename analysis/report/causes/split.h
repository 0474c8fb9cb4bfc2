/* What additional time on a processor was spent with, as far as figures tell: kernel or program,
 * and with counters more instructions or slower ones; and who had it while the thread was ready to
 * run.
 *
 * The kernel counts its time and the program's by ticks, which are right in the mean: only sums
 * over many intervals are split.
 */
#ifndef SG_REPORT_CAUSES_SPLIT_H
#define SG_REPORT_CAUSES_SPLIT_H

#include "report/causes/causes.h"

/* More than those that it is compared with. */
struct sg_cause_more {
    double ns;                 /* on a processor; more than 0 */
    double user_ns, system_ns; /* by ticks; where has_usage */
    double faults;             /* likewise */
    double work_ns; /* the time of additional instructions at the others' speed; NAN: not known */
    bool has_usage;
};

/* Shares of its time by cause, which sum up to 1: SG_CAUSE_COMPUTING to SG_CAUSE_KERNEL only. */
void sg_cause_split(const struct sg_cause_more *more, double shares[SG_CAUSES]);

/* The same of time runnable, of SG_CAUSE_PREEMPTED or SG_CAUSE_CALLS_PREEMPTED: the process's other
 * threads had so much of the thread's processor, and were elsewhere for so long, perhaps there,
 * too. */
void sg_cause_split_preempted(enum sg_cause cause, double ns, double here_ns, double elsewhere_ns,
                              double shares[SG_CAUSES]);

#endif
