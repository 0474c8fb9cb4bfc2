#include "report/cause_table.h"

#include <math.h>
#include <string.h>

const char *const sg_cause_names[SG_CAUSES] = {
    [SG_CAUSE_COMPUTING] = "computing",
    [SG_CAUSE_WORK] = "more work",
    [SG_CAUSE_SLOWER] = "slower",
    [SG_CAUSE_FAULTS] = "page faults",
    [SG_CAUSE_KERNEL] = "kernel",
    [SG_CAUSE_PREEMPTED] = "preempted",
    [SG_CAUSE_PREEMPTED_THREADS] = "preempted by its threads",
    [SG_CAUSE_PREEMPTED_OTHERS] = "preempted by others",
    [SG_CAUSE_THROTTLED] = "throttled",
    [SG_CAUSE_IO] = "reading or writing",
    [SG_CAUSE_ASLEEP] = "asleep",
    [SG_CAUSE_CALLS_BUSY] = "busy in calls",
    [SG_CAUSE_CALLS_PREEMPTED] = "preempted in calls",
    [SG_CAUSE_CALLS_PREEMPTED_THREADS] = "preempted in calls by its threads",
    [SG_CAUSE_CALLS_PREEMPTED_OTHERS] = "preempted in calls by others",
    [SG_CAUSE_CALLS_THROTTLED] = "throttled in calls",
    [SG_CAUSE_CALLS_ASLEEP] = "asleep in calls",
    [SG_CAUSE_CALLS] = "calls of MPI",
    [SG_CAUSE_LEFT] = "left later",
    [SG_CAUSE_UNKNOWN] = "not told apart",
};

const char *const sg_cause_texts[SG_CAUSES] = {
    [SG_CAUSE_COMPUTING] = "it computes longer: more work, or a slower processor",
    [SG_CAUSE_WORK] = "it executes more instructions",
    [SG_CAUSE_SLOWER] = "its instructions take longer: memory, frequency, a neighbor on the core",
    [SG_CAUSE_FAULTS] = "it is in the kernel longer, with more page faults",
    [SG_CAUSE_KERNEL] = "it is in the kernel longer",
    [SG_CAUSE_PREEMPTED] = "it is ready to run, but its threads or other processes run instead",
    [SG_CAUSE_PREEMPTED_THREADS] =
        "it is ready to run, but other threads of its own have the processor",
    [SG_CAUSE_PREEMPTED_OTHERS] = "it is ready to run, but other processes have the processor",
    [SG_CAUSE_THROTTLED] = "its control group has used up its processor quota",
    [SG_CAUSE_IO] = "it waits for reads, writes or pages from a disk",
    [SG_CAUSE_ASLEEP] = "it sleeps",
    [SG_CAUSE_CALLS_BUSY] = "in calls of MPI it is on a processor longer",
    [SG_CAUSE_CALLS_PREEMPTED] =
        "in calls of MPI it is ready to run, but its threads or other processes run instead",
    [SG_CAUSE_CALLS_PREEMPTED_THREADS] =
        "in calls of MPI it is ready to run, but other threads of its own have the processor",
    [SG_CAUSE_CALLS_PREEMPTED_OTHERS] =
        "in calls of MPI it is ready to run, but other processes have the processor",
    [SG_CAUSE_CALLS_THROTTLED] =
        "in calls of MPI, its control group has used up its processor quota",
    [SG_CAUSE_CALLS_ASLEEP] = "in calls of MPI it sleeps",
    [SG_CAUSE_CALLS] = "it is in calls of MPI longer; the figures do not tell more",
    [SG_CAUSE_LEFT] =
        "it leaves the collective before this one later; the figures do not tell more",
    [SG_CAUSE_UNKNOWN] = "the figures do not tell",
};

static double between(double low, double value, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* A page fault costs at most about this much. Additional time in the kernel is attributed to page
 * faults if the additional ones may have cost half of it. */
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
