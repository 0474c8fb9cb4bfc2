/* Finds the directory of this command, from which the library and the descriptions of networks are
 * found, installed or not.
 */
#ifndef SG_OWN_DIRECTORY_H
#define SG_OWN_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* The directory of this program's file, without a trailing slash; false if the system cannot
 * tell. */
static inline bool sg_own_directory(char directory[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", directory, PATH_MAX - 1);

    if (length <= 0)
        return false;
    directory[length] = '\0';
    *strrchr(directory, '/') = '\0';
    return true;
}

#endif
