#include "core/procfs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    /* The parent is the 4th field, the start the 22nd; the second is a name in brackets that may
     * hold anything. */
    at = strrchr(text, ')');
    if (at == NULL || sscanf(at + 1, " %*c %" SCNd32, &stat.parent) != 1)
        return stat;
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at != NULL)
        sscanf(at, "%" SCNu64, &stat.start);
    return stat;
}
