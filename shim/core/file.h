/* Files and the kernel's descriptions of processes and processors. Files that another user may have
 * placed are opened safely. Writes to files and shared memory report a full disk or a limit as an
 * error, never as a signal. */
#ifndef SG_CORE_FILE_H
#define SG_CORE_FILE_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#define SG_FILE_LINK (-1)
#define SG_FILE_IRREGULAR (-2)

/* Opens a regular file for reading; refuses a FIFO, device or directory without opening it. flags:
 * O_NOFOLLOW if other users may write to the path's directory, so that a link of theirs selects no
 * file; else 0. Returns 0, an errno value, or one of the codes above, for which sg_file_error has
 * texts. Thread-safe. */
int sg_file_open(const char *path, int flags, int *file);
const char *sg_file_error(int error);
/* Flushes a file, or a directory's names, to disk. Returns 0 or an errno value; 0 if the file
 * system has no such call. */
int sg_file_sync(int file);
/* Has the system begin to write a file to disk; does not wait for it. */
void sg_file_write_out(int file);
/* Allocates blocks for [offset, offset + size), so that a later store through a mapping never
 * raises SIGBUS. Returns 0 or an errno value; respects RLIMIT_FSIZE without raising SIGXFSZ.
 * Thread-safe; a system call, not for signal handlers. */
int sg_file_allocate(int file, uint64_t offset_bytes, uint64_t size_bytes);
/* Sets a file's size and allocates nothing. Otherwise as above. */
int sg_file_resize(int file, uint64_t size_bytes);
/* Writes all the data at the offset. Returns 0 or an errno value; respects RLIMIT_FSIZE as
 * above. */
int sg_file_write(int file, uint64_t offset_bytes, const void *data, size_t size_bytes);

/* ---- processes of this machine (proc(5)) ---- */

/* All 0 if the process does not exist or is hidden. Thread-safe; system calls, not for signal
 * handlers. */
struct sg_procfs_stat {
    int32_t parent;
    uint64_t start; /* start time, in kernel ticks since boot */
};

struct sg_procfs_stat sg_procfs_stat(int32_t process);

/* ---- sockets and cores, by the kernel's numbers (/sys/devices/system/cpu/cpuN/topology) ---- */

/* A socket and core to which an affinity mask is confined. Each is 1 + the kernel's number, or 0 if
 * there are several or the kernel does not say. A core is numbered within its socket; if the core
 * is known, so is the socket. Not signal-safe. */
struct sg_socket {
    uint32_t socket, core;
};

/* Describes the processors in a mask. sys: "/sys" or, in tests, a similar directory. */
struct sg_socket sg_socket_of(const char *sys, const cpu_set_t *mask);
/* Describes the calling thread's affinity mask. */
struct sg_socket sg_socket_own(void);

#endif
