#include "causes/kernel_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int sg_kernel_file_open(struct sg_kernel_file *file, const char *directory, const char *name)
{
    struct stat info;
    char *path;

    file->file = -1;
    if (asprintf(&path, "%s/%s", directory, name) < 0)
        return ENOMEM;
    file->file = open(path, O_RDONLY | O_CLOEXEC);
    free(path);
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

static bool is_own(const struct sg_kernel_file *file)
{
    struct stat info;

    return file->file >= 0 && fstat(file->file, &info) == 0 && info.st_dev == file->device &&
           info.st_ino == file->inode;
}

void sg_kernel_file_close(struct sg_kernel_file *file)
{
    if (is_own(file))
        close(file->file);
    file->file = -1;
}

bool sg_kernel_file_read(const struct sg_kernel_file *file, char text[SG_KERNEL_FILE_BYTES])
{
    ssize_t length = is_own(file) ? pread(file->file, text, SG_KERNEL_FILE_BYTES - 1, 0) : -1;

    if (length <= 0)
        return false;
    text[length] = '\0';
    return true;
}
