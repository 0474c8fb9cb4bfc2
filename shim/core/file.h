/* Files and shared memory whose space is there before it is touched. */
#ifndef SG_CORE_FILE_H
#define SG_CORE_FILE_H

#include <stdint.h>

/* Gives a file blocks for [offset, offset + size): a later store through a mapping then never
 * raises SIGBUS. 0 or an errno value; respects RLIMIT_FSIZE without raising SIGXFSZ.
 * Thread-safe; a system call, not for signal handlers. */
int sg_file_allocate(int file, uint64_t offset_bytes, uint64_t size_bytes);

#endif
