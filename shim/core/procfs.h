/* What the kernel tells of a process of this machine (proc(5)). */
#ifndef SG_CORE_PROCFS_H
#define SG_CORE_PROCFS_H

#include <stdint.h>

/* All 0: there is no such process, or it is hidden. Thread-safe; system calls, not for signal
 * handlers. */
struct sg_procfs_stat {
    int32_t parent;
    uint64_t start; /* when it began, in the kernel's ticks since boot */
};

struct sg_procfs_stat sg_procfs_stat(int32_t process);

#endif
