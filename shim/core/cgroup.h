/* Limits of control groups (cgroups(7), versions 1 and 2): memory, and the processor quota
 * (cpu.max), which limits a container even if it sees many processors.
 *
 * Any thread; not from a signal handler. */
#ifndef SG_CORE_CGROUP_H
#define SG_CORE_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* A group with a quota. */
struct sg_cgroup {
    int processors; /* the quota, rounded up */
    uint64_t id;    /* of the limiting group: the same for all its processes */
    char directory[PATH_MAX];
};

/* Finds the group with the least quota among a group and its ancestors; false: none has a quota.
 * path: below root, as in /proc/self/cgroup. */
bool sg_cgroup_quota(const char *root, const char *path, struct sg_cgroup *out);

/* The same for the groups of this process. processes: where proc(5) is mounted; systems:
 * sysfs(5). */
bool sg_cgroup_own(const char *processes, const char *systems, struct sg_cgroup *out);

/* Memory that the groups leave, including reclaimable page cache; UINT64_MAX: no limit. If the
 * group exceeds it, the kernel kills processes of the group. */
uint64_t sg_cgroup_memory_left(const char *processes, const char *systems);

#endif
