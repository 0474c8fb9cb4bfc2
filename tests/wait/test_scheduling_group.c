/* Tests the scheduling group of a process, from files as the kernel shows them. */
#include "lib/unit.h"
#include "wait/scheduling_group.h"

#include <errno.h>
#include <sys/stat.h>

static char proc[256];

static void make_directory(const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", proc, name);
    ASSERT(mkdir(path, 0777) == 0 || errno == EEXIST);
}

static void put(const char *name, const char *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", proc, name);
    file = fopen(path, "w");
    ASSERT(file != NULL, fputs(text, file) >= 0);
    fclose(file);
}

/* A process in autogroup 17. */
static void fresh(void)
{
    static int number;

    snprintf(proc, sizeof proc, "%s/%d", unit_directory(), number++);
    make_directory("");
    make_directory("self");
    make_directory("sys");
    make_directory("sys/kernel");
    put("sys/kernel/sched_autogroup_enabled", "1\n");
    put("self/autogroup", "/autogroup-17 nice 0\n");
    put("self/cgroup", "2:cpuacct:/\n1:cpu:/\n0::/\n");
}

TEST("a process is in the group of its session")
{
    fresh();
    EXPECT(sg_scheduling_group(proc) == 17);
    put("self/cgroup", "0::/user.slice/session-1.scope\n");
    EXPECT(sg_scheduling_group(proc) == 17);
    put("self/cgroup", "3:memory:/a\n1:cpu,cpuacct:/\n");
    EXPECT(sg_scheduling_group(proc) == 17);
}

TEST("there are none where they are switched off, or unknown")
{
    fresh();
    put("sys/kernel/sched_autogroup_enabled", "0\n");
    EXPECT(sg_scheduling_group(proc) == 0, sg_scheduling_group("/nowhere") == 0);
}

TEST("a control group for processors comes before them")
{
    fresh();
    put("self/cgroup", "3:memory:/\n1:cpu,cpuacct:/job/7\n");
    EXPECT(sg_scheduling_group(proc) == 0);
}

TEST("what is no group counts as none")
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
