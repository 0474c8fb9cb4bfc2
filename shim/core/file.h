/* Files: opening those that another user may have put there, and writing to files and shared
 * memory where a full disk and a limit are errors and never signals. */
#ifndef SG_CORE_FILE_H
#define SG_CORE_FILE_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#define SG_FILE_LINK (-1)
#define SG_FILE_IRREGULAR (-2)

/* Opens a regular file for reading: a FIFO, a device or a directory is refused without being
 * opened. flags: O_NOFOLLOW for a path that ends in a directory other users may write to, so that a
 * link of theirs selects no file; else 0. Returns 0, an errno value, or one of the above, for which
 * sg_file_error has texts. Thread-safe. */
int sg_file_open(const char *path, int flags, int *file);
const char *sg_file_error(int error);
/* Writes what the system holds of a file, or a directory's names, to the disk. 0 or an errno value;
 * where a file system has no such call it is 0. */
int sg_file_sync(int file);
/* Gives a file blocks for [offset, offset + size): a later store through a mapping then never
 * raises SIGBUS. 0 or an errno value; respects RLIMIT_FSIZE without raising SIGXFSZ.
 * Thread-safe; a system call, not for signal handlers. */
int sg_file_allocate(int file, uint64_t offset_bytes, uint64_t size_bytes);
/* Writes all of the data at the offset. 0 or an errno value; respects RLIMIT_FSIZE as above. */
int sg_file_write(int file, uint64_t offset_bytes, const void *data, size_t size_bytes);

/* What the kernel tells of a process of this machine (proc(5)). */

/* All 0: there is no such process, or it is hidden. Thread-safe; system calls, not for signal
 * handlers. */
struct sg_procfs_stat {
    int32_t parent;
    uint64_t start; /* when it began, in the kernel's ticks since boot */
};

struct sg_procfs_stat sg_procfs_stat(int32_t process);

/* The socket and the core that a thread runs on, where its affinity mask leaves only one: by the
 * numbers of the kernel (/sys/devices/system/cpu/cpuN/topology). Not signal-safe.
 */

/* 1 + the kernel's number; 0: there are several, or the kernel does not tell. A core's number is
 * that within its socket; where it is known, its socket is, too. */
struct sg_socket {
    uint32_t socket, core;
};

/* Of the processors in a mask. sys: "/sys" or, in tests, a directory like it. */
struct sg_socket sg_socket_of(const char *sys, const cpu_set_t *mask);
/* Of the calling thread. */
struct sg_socket sg_socket_own(void);

#endif
