/* Tests limits of control groups, in trees of files made as the kernel shows them. */
#include "core/cgroup.h"
#include "lib/unit.h"

#include <limits.h>
#include <sys/stat.h>

static const char *root;

/* A file of a group. */
static void put(const char *group, const char *name, const char *text)
{
    unit_write(text, "%s%s/%s", root, group, name);
}

static uint64_t id_of(const char *group)
{
    char path[512];
    struct stat info;

    snprintf(path, sizeof path, "%s%s", root, group);
    ASSERT(stat(path, &info) == 0);
    return (uint64_t)info.st_ino;
}

static int quota(const char *path)
{
    struct sg_cgroup group;

    return sg_cgroup_quota(root, path, &group) ? group.processors : INT_MAX;
}

/* Expects a quota of this many processors, imposed by this group. */
static void expect(int processors, const char *path, const char *group)
{
    struct sg_cgroup found;
    char directory[512];

    snprintf(directory, sizeof directory, "%s%s", root, group);
    ASSERT(sg_cgroup_quota(root, path, &found));
    EXPECT(found.processors == processors, found.id == id_of(group),
           text_is(found.directory, directory));
}

TEST("no group with a quota gives no quota")
{
    root = unit_fresh_directory();
    EXPECT(quota("") == INT_MAX);
    put("/a", "cgroup.procs", "");
    EXPECT(quota("/a") == INT_MAX, quota("/nowhere/at/all") == INT_MAX);
    put("/a", "cpu.max", "max 100000\n");
    EXPECT(quota("/a") == INT_MAX);
}

TEST("a group's quota is its time divided by its period")
{
    root = unit_fresh_directory();
    put("/a", "cpu.max", "200000 100000\n");
    expect(2, "/a", "/a");
    put("/a", "cpu.max", "100000 100000\n");
    expect(1, "/a", "/a");
}

TEST("a fraction of a processor counts as one")
{
    root = unit_fresh_directory();
    put("/a", "cpu.max", "150000 100000\n");
    expect(2, "/a", "/a");
    put("/a", "cpu.max", "1000 100000\n");
    expect(1, "/a", "/a");
    put("/a", "cpu.max", "210000 100000\n");
    expect(3, "/a", "/a");
}

TEST("the least quota of nested groups decides and names its group")
{
    root = unit_fresh_directory();
    put("/a", "cpu.max", "300000 100000\n");
    put("/a/b", "cpu.max", "max 100000\n");
    put("/a/b/c", "cpu.max", "800000 100000\n");
    expect(3, "/a/b/c", "/a");
    put("/a/b", "cpu.max", "50000 50000\n");
    expect(1, "/a/b/c", "/a/b");
    put("/a/b/c", "cpu.max", "20000 50000\n");
    expect(1, "/a/b/c", "/a/b/c");
    expect(3, "/a", "/a");
}

TEST("the root's quota stands for groups that are not visible")
{
    root = unit_fresh_directory();
    put("", "cpu.max", "400000 100000\n");
    put("/a", "cgroup.procs", "");
    expect(4, "/a", "");
    expect(4, "", "");
    /* A group that is not seen from here, as in a container. */
    expect(4, "/elsewhere/b", "");
}

TEST("groups of version 1 have two files")
{
    root = unit_fresh_directory();
    put("/a", "cpu.cfs_quota_us", "-1\n");
    put("/a", "cpu.cfs_period_us", "100000\n");
    EXPECT(quota("/a") == INT_MAX);
    put("/a", "cpu.cfs_quota_us", "250000\n");
    expect(3, "/a", "/a");
    put("/a/b", "cpu.cfs_quota_us", "50000\n");
    EXPECT(quota("/a/b") == 3); /* its period is missing */
    put("/a/b", "cpu.cfs_period_us", "100000\n");
    expect(1, "/a/b", "/a/b");
}

TEST("malformed quotas count as none")
{
    char path[2 * PATH_MAX];

    root = unit_fresh_directory();
    put("/a", "cpu.max", "");
    EXPECT(quota("/a") == INT_MAX);
    put("/a", "cpu.max", "100000\n");
    EXPECT(quota("/a") == INT_MAX);
    put("/a", "cpu.max", "100000 0\n");
    EXPECT(quota("/a") == INT_MAX);
    put("/a", "cpu.max", "-5 100000\n");
    EXPECT(quota("/a") == INT_MAX);
    put("/a", "cpu.max", "nan inf\n");
    EXPECT(quota("/a") == INT_MAX);
    put("/a", "cpu.max", "1e300 1\n");
    EXPECT(quota("/a") == INT_MAX);
    memset(path, '/', sizeof path);
    path[sizeof path - 1] = '\0';
    EXPECT(quota(path) == INT_MAX);
}

/* ---- memory: in root/proc and root/sys ---- */

/* groups: what /proc/self/cgroup says */
static void fresh_system(const char *groups)
{
    root = unit_fresh_directory();
    put("/proc/self", "cgroup", groups);
}

static uint64_t memory_left(void)
{
    char processes[300], systems[300];

    snprintf(processes, sizeof processes, "%s/proc", root);
    snprintf(systems, sizeof systems, "%s/sys", root);
    return sg_cgroup_memory_left(processes, systems);
}

TEST("the memory left is the least that a group or one of its ancestors leaves")
{
    fresh_system("0::/a/b\n");
    EXPECT(memory_left() == UINT64_MAX);
    put("/sys/fs/cgroup/a", "memory.max", "max\n");
    put("/sys/fs/cgroup/a", "memory.current", "1000\n");
    EXPECT(memory_left() == UINT64_MAX);
    put("/sys/fs/cgroup/a", "memory.max", "5000\n");
    EXPECT(memory_left() == 4000);
    put("/sys/fs/cgroup/a", "memory.stat", "anon 600\ninactive_file 300\nactive_file 100\n");
    EXPECT(memory_left() == 4300);
    put("/sys/fs/cgroup/a/b", "memory.max", "2000\n");
    EXPECT(memory_left() == 4300); /* what it has used is not known */
    put("/sys/fs/cgroup/a/b", "memory.current", "500\n");
    EXPECT(memory_left() == 1500);
    put("/sys/fs/cgroup/a/b", "memory.current", "2001\n");
    EXPECT(memory_left() == 0);
}

TEST("groups of version 1 have other names for memory files")
{
    fresh_system("4:cpu,memory:/a\n0::/\n");
    put("/sys/fs/cgroup/memory/a", "memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/a", "memory.usage_in_bytes", "700\n");
    EXPECT(memory_left() > UINT64_C(1) << 62);
    put("/sys/fs/cgroup/memory/a", "memory.limit_in_bytes", "1700\n");
    EXPECT(memory_left() == 1000);
    put("/sys/fs/cgroup/memory/a", "memory.stat", "inactive_file 10\ntotal_inactive_file 20\n");
    EXPECT(memory_left() == 1020);
}
