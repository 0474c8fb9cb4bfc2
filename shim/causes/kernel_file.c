#include "causes/kernel_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int sg_kernel_file_open(struct sg_kernel_file *file, const char *directory, const char *name)
{
    char path[PATH_MAX];
    struct stat info;

    file->file = -1;
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
        return ENAMETOOLONG;
    file->file = open(path, O_RDONLY | O_CLOEXEC);
    if (file->file < 0)
        return errno;
    if (fstat(file->file, &info) != 0) {
        int error = errno;

        close(file->file);
        file->file = -1;
        return error;
    }
    file->device = info.st_dev;
    file->inode = info.st_ino;
    return 0;
}

void sg_kernel_file_close(struct sg_kernel_file *file)
{
    struct stat info;

    if (file->file >= 0 && fstat(file->file, &info) == 0 && info.st_dev == file->device &&
        info.st_ino == file->inode)
        close(file->file);
    file->file = -1;
}

bool sg_kernel_file_read(const struct sg_kernel_file *file, char text[SG_KERNEL_FILE_BYTES])
{
    ssize_t length = file->file >= 0 ? pread(file->file, text, SG_KERNEL_FILE_BYTES - 1, 0) : -1;

    if (length <= 0)
        return false;
    text[length] = '\0';
    return true;
}
