#include "causes/kernel_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Open ones of the process: the program's limit of descriptors is for its own. */
#define KEPT_MOST 16

static atomic_int kept;

static bool is_own(const struct sg_kernel_file *file)
{
    struct stat info;

    return fstat(file->file, &info) == 0 && info.st_dev == file->device &&
           info.st_ino == file->inode;
}

static void forget(struct sg_kernel_file *file)
{
    file->file = -1;
    atomic_fetch_sub_explicit(&kept, 1, memory_order_relaxed);
}

/* Stays open, unless there are too many. */
static int keep(struct sg_kernel_file *file, int opened)
{
    struct stat info;
    int error = fstat(opened, &info) != 0 ? errno : 0;

    if (error == 0 && atomic_fetch_add_explicit(&kept, 1, memory_order_relaxed) < KEPT_MOST) {
        file->file = opened;
        file->device = info.st_dev;
        file->inode = info.st_ino;
        return 0;
    }
    if (error == 0)
        atomic_fetch_sub_explicit(&kept, 1, memory_order_relaxed);
    close(opened);
    return error;
}

int sg_kernel_file_open(struct sg_kernel_file *file, const char *directory, const char *name)
{
    int opened, error;

    file->file = -1;
    if (asprintf(&file->path, "%s/%s", directory, name) < 0) {
        file->path = NULL;
        return ENOMEM;
    }
    opened = open(file->path, O_RDONLY | O_CLOEXEC);
    error = opened < 0 ? errno : keep(file, opened);
    if (error != 0)
        sg_kernel_file_close(file);
    return error;
}

void sg_kernel_file_close(struct sg_kernel_file *file)
{
    if (file->file >= 0) {
        if (is_own(file))
            close(file->file);
        forget(file);
    }
    free(file->path);
    file->path = NULL;
}

bool sg_kernel_file_read(struct sg_kernel_file *file, char text[SG_KERNEL_FILE_BYTES])
{
    ssize_t length;
    int from;

    if (file->file >= 0 && !is_own(file))
        forget(file);
    from =
        file->file >= 0 || file->path == NULL ? file->file : open(file->path, O_RDONLY | O_CLOEXEC);
    length = from >= 0 ? pread(from, text, SG_KERNEL_FILE_BYTES - 1, 0) : -1;
    if (from >= 0 && from != file->file)
        close(from);
    if (length <= 0)
        return false;
    text[length] = '\0';
    return true;
}
