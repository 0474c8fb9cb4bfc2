#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading files that others may have placed ----------------------------------------------- */

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
    /* O_PATH does not open the file: some devices act when they are opened, and a FIFO waits. */
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

void sg_file_write_out(int file)
{
    sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);
}

/* Beyond RLIMIT_FSIZE the kernel would send SIGXFSZ, which ends the application. */
static bool is_allowed(uint64_t end_bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           end_bytes <= limit.rlim_cur;
}

/* On tmpfs a signal interrupts an allocation, and the kernel undoes all of that call: with a timer
 * faster than the whole allocation, it would never complete. Completed pieces stay; an interrupted
 * piece is retried in halves, down to a block. */
#define PIECE_BYTES UINT64_C(4194304)
#define BLOCK_BYTES UINT64_C(4096)
/* Gives up a block after this many interruptions in a row. */
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

int sg_file_resize(int file, uint64_t size_bytes)
{
    if (!is_allowed(size_bytes))
        return EFBIG;
    return ftruncate(file, (off_t)size_bytes) == 0 ? 0 : errno;
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

struct sg_procfs_stat sg_procfs_stat(int32_t process)
{
    struct sg_procfs_stat stat = {0};
    char path[32], text[1024];
    const char *at;
    ssize_t length;
    int file;

    snprintf(path, sizeof path, "/proc/%" PRId32 "/stat", process);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return stat;
    length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    /* The parent is field 4, the start field 22; field 2 is a name in brackets that may hold
     * anything. */
    at = strrchr(text, ')');
    if (at == NULL || sscanf(at + 1, " %*c %" SCNd32, &stat.parent) != 1)
        return stat;
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at != NULL)
        sscanf(at, "%" SCNu64, &stat.start);
    return stat;
}

/* A kernel that does not know the number reports -1. */
static bool read_number(const char *sys, int processor, const char *name, uint32_t *number)
{
    char path[PATH_MAX];
    FILE *file;
    long value;
    bool found;

    snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%d/topology/%s", sys, processor, name);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    found = fscanf(file, "%ld", &value) == 1 && value >= 0 && value < INT32_MAX;
    fclose(file);
    if (found)
        *number = (uint32_t)value;
    return found;
}

struct sg_socket sg_socket_of(const char *sys, const cpu_set_t *mask)
{
    struct sg_socket place = {0};
    uint32_t socket, core;
    bool is_first = true, is_one_core = true;

    for (int processor = 0; processor < CPU_SETSIZE; processor++) {
        if (!CPU_ISSET(processor, mask))
            continue;
        if (!read_number(sys, processor, "physical_package_id", &socket) ||
            (!is_first && place.socket != socket + 1))
            return (struct sg_socket){0};
        place.socket = socket + 1;
        if (is_one_core && read_number(sys, processor, "core_id", &core) &&
            (is_first || place.core == core + 1)) {
            place.core = core + 1;
        } else {
            is_one_core = false;
            place.core = 0;
        }
        is_first = false;
    }
    return place;
}

struct sg_socket sg_socket_own(void)
{
    cpu_set_t mask;

    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) != 0)
        return (struct sg_socket){0};
    return sg_socket_of("/sys", &mask);
}
