#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

int sg_file_allocate(int file, uint64_t offset_bytes, uint64_t size_bytes)
{
    struct rlimit limit;
    int error;

    /* Past RLIMIT_FSIZE the system would send SIGXFSZ, which ends the application. */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        offset_bytes + size_bytes > limit.rlim_cur)
        return EFBIG;
    do
        error = posix_fallocate(file, (off_t)offset_bytes, (off_t)size_bytes);
    while (error == EINTR);
    return error;
}
