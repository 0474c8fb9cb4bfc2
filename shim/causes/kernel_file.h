/* A file of the kernel's that is read again and again. A few of a process stay open, whose reading
 * is cheap; others are opened each time. The program may close an open one unknowingly, and be
 * given its number for one of its own, which nobody else must read or close: it is then opened each
 * time.
 */
#ifndef SG_CAUSES_KERNEL_FILE_H
#define SG_CAUSES_KERNEL_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#define SG_KERNEL_FILE_BYTES 512 /* the most that is read of it */

struct sg_kernel_file {
    char *path; /* malloc'ed; NULL: closed */
    int file;   /* -1: it does not stay open */
    dev_t device;
    ino_t inode;
};

/* 0, or errno: *file is then closed. */
int sg_kernel_file_open(struct sg_kernel_file *file, const char *directory, const char *name);
void sg_kernel_file_close(struct sg_kernel_file *file);

/* All of it, as a text; false: it cannot be read. */
bool sg_kernel_file_read(struct sg_kernel_file *file, char text[SG_KERNEL_FILE_BYTES]);

#endif
