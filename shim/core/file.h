/* Writing to files and shared memory where a full disk and a limit are errors and never signals. */
#ifndef SG_CORE_FILE_H
#define SG_CORE_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Gives a file blocks for [offset, offset + size): a later store through a mapping then never
 * raises SIGBUS. 0 or an errno value; respects RLIMIT_FSIZE without raising SIGXFSZ.
 * Thread-safe; a system call, not for signal handlers. */
int sg_file_allocate(int file, uint64_t offset_bytes, uint64_t size_bytes);

/* Writes all of the data at the offset. 0 or an errno value; respects RLIMIT_FSIZE as above. */
int sg_file_write(int file, uint64_t offset_bytes, const void *data, size_t size_bytes);

#endif
