#include "core/socket.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/* Kernels that do not know answer -1. */
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
