#include "report/causes/causes.h"

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
