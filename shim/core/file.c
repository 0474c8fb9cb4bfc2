#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading what others may have put there -------------------------------------------------- */

#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* Opens the file that place refers to, whatever its path names by now. */
static int open_place(int place, const struct stat *info, const char *path, int flags, int *out)
{
    struct stat opened;
    char link[32];
    int file;

    snprintf(link, sizeof link, "/proc/self/fd/%d", place);
    file = open(link, READ_FLAGS);
    if (file < 0 && errno == ENOENT) /* /proc is not mounted */
        file = open(path, READ_FLAGS | flags);
    if (file < 0)
        return errno;
    if (fstat(file, &opened) != 0 || opened.st_dev != info->st_dev ||
        opened.st_ino != info->st_ino) {
        close(file);
        return ESTALE;
    }
    *out = file;
    return 0;
}

int sg_file_open(const char *path, int flags, int *file)
{
    /* O_PATH opens nothing: some devices act when they are opened, and a FIFO waits. */
    int place = open(path, O_PATH | O_CLOEXEC | flags);
    struct stat info;
    int error;

    if (place < 0)
        return errno;
    if (fstat(place, &info) != 0)
        error = errno;
    else if (S_ISLNK(info.st_mode))
        error = SG_FILE_LINK;
    else if (!S_ISREG(info.st_mode))
        error = SG_FILE_IRREGULAR;
    else
        error = open_place(place, &info, path, flags, file);
    close(place);
    return error;
}

const char *sg_file_error(int error)
{
    return error == SG_FILE_LINK        ? "is a symbolic link, which is not followed"
           : error == SG_FILE_IRREGULAR ? "is not a regular file"
                                        : strerror(error);
}

/* ---- writing --------------------------------------------------------------------------------- */

int sg_file_sync(int file)
{
    return fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
}

/* Past RLIMIT_FSIZE the system would send SIGXFSZ, which ends the application. */
static bool is_allowed(uint64_t end_bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           end_bytes <= limit.rlim_cur;
}

/* On tmpfs a signal ends an allocation, and the kernel takes back what the call had so far: under a
 * timer that is faster than the whole, the whole never comes. Pieces stay; an interrupted one is
 * tried in halves, down to a block. */
#define PIECE_BYTES UINT64_C(4194304)
#define BLOCK_BYTES UINT64_C(4096)
/* A block that is interrupted so often in a row is given up. */
#define TRIES 1000

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

int sg_file_allocate(int file, uint64_t offset_bytes, uint64_t size_bytes)
{
    uint64_t piece_bytes = PIECE_BYTES;
    uint64_t done = 0;
    int tries = 0;

    if (size_bytes > (uint64_t)INT64_MAX - least(offset_bytes, INT64_MAX) ||
        !is_allowed(offset_bytes + size_bytes))
        return EFBIG;
    while (done < size_bytes) {
        uint64_t bytes = least(piece_bytes, size_bytes - done);
        int error = posix_fallocate(file, (off_t)(offset_bytes + done), (off_t)bytes);

        if (error == 0) {
            done += bytes;
            tries = 0;
            piece_bytes = least(2 * piece_bytes, PIECE_BYTES);
        } else if (error != EINTR || ++tries == TRIES) {
            return error;
        } else if (piece_bytes > BLOCK_BYTES) {
            piece_bytes /= 2;
        }
    }
    return 0;
}

int sg_file_write(int file, uint64_t offset_bytes, const void *data, size_t size_bytes)
{
    const char *from = data;

    if (!is_allowed(offset_bytes + size_bytes))
        return EFBIG;
    while (size_bytes > 0) {
        ssize_t written = pwrite(file, from, size_bytes, (off_t)offset_bytes);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : ENOSPC;
        from += written;
        offset_bytes += (uint64_t)written;
        size_bytes -= (size_t)written;
    }
    return 0;
}
