/* Tests the causes of time outside of MPI, from made-up figures. */
#include "lib/unit.h"
#include "watch/job.h"

/* Returns the cause for 100 ns, spent as given, with these changes meanwhile. */
static enum sg_cause cause_of(uint64_t cpu_ns, uint64_t runnable_ns,
                              struct sg_outside_figures changed, bool has_io)
{
    struct sg_outside_figures before = {.user_ticks = 7, .system_ticks = 9, .has_io = has_io};
    struct sg_outside_spent spent = {.ns = 100,
                                     .cpu_ns = cpu_ns,
                                     .runnable_ns = runnable_ns,
                                     .off_ns = 100 - cpu_ns - runnable_ns};

    changed.user_ticks += 7;
    changed.system_ticks += 9;
    changed.has_io = has_io;
    return sg_outside_cause(&before, &changed, &spent);
}

TEST("a share above half of the time is the cause")
{
    const struct sg_outside_figures none = {0};

    EXPECT(cause_of(60, 40, none, true) == SG_CAUSE_COMPUTING,
           cause_of(60, 0, (struct sg_outside_figures){.user_ticks = 1, .system_ticks = 2}, true) ==
               SG_CAUSE_KERNEL,
           cause_of(40, 60, none, true) == SG_CAUSE_PREEMPTED,
           cause_of(20, 20, none, true) == SG_CAUSE_ASLEEP,
           cause_of(20, 20, (struct sg_outside_figures){.io_bytes = 512}, true) == SG_CAUSE_IO,
           cause_of(20, 20, (struct sg_outside_figures){.major_faults = 1}, false) == SG_CAUSE_IO);
}

TEST("the cause is unknown without such a share or without the kernel's figures")
{
    const struct sg_outside_figures none = {0};

    EXPECT(cause_of(40, 40, none, true) == SG_CAUSE_UNKNOWN,
           cause_of(50, 50, none, true) == SG_CAUSE_UNKNOWN,
           cause_of(20, 20, none, false) == SG_CAUSE_UNKNOWN,
           cause_of(0, 100, (struct sg_outside_figures){.may_be_throttled = true}, true) ==
               SG_CAUSE_UNKNOWN);
}
