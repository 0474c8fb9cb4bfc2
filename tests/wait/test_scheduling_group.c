/* Tests the scheduling group of a process, from files as the kernel shows them. */
#include "lib/unit.h"
#include "wait/scheduling_group.h"

static const char *proc;

static void put(const char *name, const char *text)
{
    unit_write(text, "%s/%s", proc, name);
}

/* A process in autogroup 17. */
static void fresh(void)
{
    proc = unit_fresh_directory();
    put("sys/kernel/sched_autogroup_enabled", "1\n");
    put("self/autogroup", "/autogroup-17 nice 0\n");
    put("self/cgroup", "2:cpuacct:/\n1:cpu:/\n0::/\n");
}

TEST("a process is in the autogroup of its session")
{
    fresh();
    EXPECT(sg_scheduling_group(proc) == 17);
    put("self/cgroup", "0::/user.slice/session-1.scope\n");
    EXPECT(sg_scheduling_group(proc) == 17);
    put("self/cgroup", "3:memory:/a\n1:cpu,cpuacct:/\n");
    EXPECT(sg_scheduling_group(proc) == 17);
}

TEST("a process has no autogroup if autogroups are switched off or unknown")
{
    fresh();
    put("sys/kernel/sched_autogroup_enabled", "0\n");
    EXPECT(sg_scheduling_group(proc) == 0, sg_scheduling_group("/nowhere") == 0);
}

TEST("a control group for processors takes precedence over autogroups")
{
    fresh();
    put("self/cgroup", "3:memory:/\n1:cpu,cpuacct:/job/7\n");
    EXPECT(sg_scheduling_group(proc) == 0);
}

TEST("a malformed group counts as none")
{
    fresh();
    put("self/autogroup", "");
    EXPECT(sg_scheduling_group(proc) == 0);
    put("self/autogroup", "/autogroup-x nice 0\n");
    EXPECT(sg_scheduling_group(proc) == 0);
    put("self/autogroup", "/autogroup-18 nice 0\n");
    put("self/cgroup", "\n:\ncpu\n1:cpu\n");
    EXPECT(sg_scheduling_group(proc) == 18);
}
