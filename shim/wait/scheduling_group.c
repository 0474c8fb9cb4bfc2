#include "wait/scheduling_group.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static FILE *open_file(const char *proc, const char *name)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", proc, name) >= (int)sizeof path)
        return NULL;
    return fopen(path, "re");
}

/* Reads a number after some text in a file's first line; 0: missing. */
static uint64_t number_in(const char *proc, const char *name, const char *format)
{
    FILE *file = open_file(proc, name);
    uint64_t number = 0;

    if (file == NULL)
        return 0;
    if (fscanf(file, format, &number) != 1)
        number = 0;
    fclose(file);
    return number;
}

/* True if a line of /proc/self/cgroup, "N:CONTROLLER,...:PATH", is of the processor controller, and
 * below the root. Version 2, "0::PATH", does not show whether the group divides processors. */
static bool divides_processors(char *line)
{
    char *controllers = strchr(line, ':');
    char *path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    char *item, *rest;

    if (path == NULL)
        return false;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    if (strcmp(path, "/") == 0)
        return false;
    for (item = strtok_r(controllers + 1, ",", &rest); item != NULL;
         item = strtok_r(NULL, ",", &rest)) {
        if (strcmp(item, "cpu") == 0)
            return true;
    }
    return false;
}

static bool is_in_control_group(const char *proc)
{
    FILE *file = open_file(proc, "self/cgroup");
    char line[PATH_MAX];
    bool is_in = false;

    while (file != NULL && !is_in && fgets(line, sizeof line, file) != NULL)
        is_in = divides_processors(line);
    if (file != NULL)
        fclose(file);
    return is_in;
}

uint64_t sg_scheduling_group(const char *proc)
{
    if (number_in(proc, "sys/kernel/sched_autogroup_enabled", "%" SCNu64) == 0 ||
        is_in_control_group(proc))
        return 0;
    return number_in(proc, "self/autogroup", "/autogroup-%" SCNu64);
}
