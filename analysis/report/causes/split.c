#include "report/causes/split.h"

#include <math.h>
#include <string.h>

static double between(double low, double value, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* A page fault costs at most about so much; where the additional ones would cost half of the
 * additional time in the kernel, it is called theirs. */
#define FAULT_NS 2000.0

void sg_cause_split(const struct sg_cause_more *more, double shares[SG_CAUSES])
{
    double user = more->user_ns > 0 ? more->user_ns : 0, system = more->system_ns;
    double kernel = more->has_usage && system > 0 ? between(0, system / (user + system), 1) : 0;
    bool faults = more->faults * FAULT_NS >= 0.5 * kernel * more->ns;

    memset(shares, 0, SG_CAUSES * sizeof *shares);
    shares[faults ? SG_CAUSE_FAULTS : SG_CAUSE_KERNEL] = kernel;
    if (isnan(more->work_ns)) {
        shares[SG_CAUSE_COMPUTING] = 1 - kernel;
        return;
    }
    shares[SG_CAUSE_WORK] = between(0, more->work_ns / more->ns, 1 - kernel);
    shares[SG_CAUSE_SLOWER] = 1 - kernel - shares[SG_CAUSE_WORK];
}

void sg_cause_split_preempted(enum sg_cause cause, double ns, double here_ns, double elsewhere_ns,
                              double shares[SG_CAUSES])
{
    double threads = between(0, here_ns / ns, 1),
           untold = between(0, elsewhere_ns / ns, 1 - threads);

    memset(shares, 0, SG_CAUSES * sizeof *shares);
    shares[cause == SG_CAUSE_PREEMPTED ? SG_CAUSE_PREEMPTED_THREADS
                                       : SG_CAUSE_CALLS_PREEMPTED_THREADS] = threads;
    shares[cause] = untold;
    shares[cause == SG_CAUSE_PREEMPTED ? SG_CAUSE_PREEMPTED_OTHERS
                                       : SG_CAUSE_CALLS_PREEMPTED_OTHERS] = 1 - threads - untold;
}
