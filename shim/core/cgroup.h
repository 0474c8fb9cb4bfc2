/* The limits of control groups (cgroups(7)): the quota (cpu.max), which holds a container back that
 * sees many processors, and the memory. Both versions of control groups.
 *
 * Any thread; not from a signal handler.
 */
#ifndef SG_CORE_CGROUP_H
#define SG_CORE_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* A group with a quota. */
struct sg_cgroup {
    int processors; /* that the quota comes to, rounded up */
    uint64_t id;    /* of the group that limits: the same for all in it */
    char directory[PATH_MAX];
};

/* Of a group and those above it the one with the least quota; false: none has any. path: below
 * root, as /proc/self/cgroup has it. */
bool sg_cgroup_quota(const char *root, const char *path, struct sg_cgroup *out);

/* Of the groups that this process is in. processes: where proc(5) is; systems: sysfs(5). */
bool sg_cgroup_own(const char *processes, const char *systems, struct sg_cgroup *out);

/* What they leave of memory, copies of files that are given up for it counted; UINT64_MAX: no
 * limit. Who takes more than that has processes of the group ended. */
uint64_t sg_cgroup_memory_left(const char *processes, const char *systems);

#endif
