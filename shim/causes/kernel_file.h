/* An open file of the kernel's that is read again and again. The program may close it unknowingly,
 * and be given its number for one of its own, which nobody else must read or close.
 */
#ifndef SG_CAUSES_KERNEL_FILE_H
#define SG_CAUSES_KERNEL_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#define SG_KERNEL_FILE_BYTES 512 /* the most that is read of it */

struct sg_kernel_file {
    int file; /* -1: closed */
    dev_t device;
    ino_t inode;
};

/* 0, or errno: *file is then closed. */
int sg_kernel_file_open(struct sg_kernel_file *file, const char *directory, const char *name);
void sg_kernel_file_close(struct sg_kernel_file *file);

/* All of it, as a text; false: it is no longer what it was. */
bool sg_kernel_file_read(const struct sg_kernel_file *file, char text[SG_KERNEL_FILE_BYTES]);

#endif
