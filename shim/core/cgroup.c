#include "core/cgroup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Reads up to two numbers at the start of a group's file; returns how many it found. */
static int read_numbers(const char *directory, const char *name, double numbers[2])
{
    char path[PATH_MAX + 32];
    FILE *file;
    int count;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    count = fscanf(file, "%lf %lf", &numbers[0], &numbers[1]);
    fclose(file);
    return count;
}

/* Quota of one group, in processors; 0: none. Version 2 has "QUOTA PERIOD" or "max PERIOD" in one
 * file; version 1 has a file for each, with -1 for no quota. */
static double quota_of(const char *directory)
{
    double numbers[2] = {0, 0}, period[2] = {0, 0};

    if (read_numbers(directory, "cpu.max", numbers) != 2) {
        read_numbers(directory, "cpu.cfs_quota_us", numbers);
        read_numbers(directory, "cpu.cfs_period_us", period);
        numbers[1] = period[0];
    }
    return numbers[0] > 0 && numbers[1] > 0 ? numbers[0] / numbers[1] : 0;
}

/* Called for each group. */
typedef void (*visit_group)(const char *directory, void *found);

/* Visits a group and its ancestors. */
static void visit_all(const char *root, const char *path, visit_group visit, void *found)
{
    char directory[PATH_MAX];
    size_t root_length = strlen(root);
    char *slash;

    if (snprintf(directory, sizeof directory, "%s%s", root, path) >= (int)sizeof directory)
        return;
    for (;;) {
        visit(directory, found);
        slash = strrchr(directory + root_length, '/');
        if (slash == NULL)
            break;
        *slash = '\0';
    }
}

/* Visits the groups of one line of /proc/self/cgroup: "0::PATH" (version 2), or
 * "N:CONTROLLER,...:PATH". */
static void visit_line(char *line, const char *systems, const char *controller, visit_group visit,
                       void *found)
{
    char *controllers = strchr(line, ':'), *path, *item, *rest;
    char root[PATH_MAX];

    path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    if (path == NULL)
        return;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    if (strcmp(path, "/") == 0)
        *path = '\0';
    controllers++;
    if (*controllers == '\0') {
        snprintf(root, sizeof root, "%s/fs/cgroup", systems);
        visit_all(root, path, visit, found);
        return;
    }
    snprintf(root, sizeof root, "%s/fs/cgroup/%s", systems, controller);
    for (item = strtok_r(controllers, ",", &rest); item != NULL; item = strtok_r(NULL, ",", &rest))
        if (strcmp(item, controller) == 0)
            visit_all(root, path, visit, found);
}

static void visit_own(const char *processes, const char *systems, const char *controller,
                      visit_group visit, void *found)
{
    char line[PATH_MAX];
    FILE *file;

    snprintf(line, sizeof line, "%s/self/cgroup", processes);
    file = fopen(line, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        visit_line(line, systems, controller, visit, found);
    if (file != NULL)
        fclose(file);
}

/* ---- processors ------------------------------------------------------------------------------ */

struct least_quota {
    double processors; /* 0: none */
    struct sg_cgroup *group;
};

static void visit_quota(const char *directory, void *found)
{
    struct least_quota *least = found;
    double quota = quota_of(directory);
    struct stat group;

    if (quota <= 0 || quota > INT_MAX / 2 ||
        (least->processors > 0 && quota >= least->processors) || stat(directory, &group) != 0)
        return;
    least->processors = quota;
    least->group->id = (uint64_t)group.st_ino;
    least->group->processors = (int)quota + (quota > (int)quota);
    memcpy(least->group->directory, directory, strlen(directory) + 1);
}

bool sg_cgroup_quota(const char *root, const char *path, struct sg_cgroup *out)
{
    struct least_quota least = {0, out};

    visit_all(root, path, visit_quota, &least);
    return least.processors > 0;
}

bool sg_cgroup_own(const char *processes, const char *systems, struct sg_cgroup *out)
{
    struct least_quota least = {0, out};

    visit_own(processes, systems, "cpu", visit_quota, &least);
    return least.processors > 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Size of the page cache that the kernel reclaims first; its name depends on the version. */
static uint64_t inactive_file_bytes(const char *directory, const char *name)
{
    char path[PATH_MAX + 32], key[64];
    uint64_t value, bytes = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/memory.stat", directory);
    file = fopen(path, "re");
    while (file != NULL && fscanf(file, "%63s %" SCNu64, key, &value) == 2)
        if (strcmp(key, name) == 0)
            bytes = value;
    if (file != NULL)
        fclose(file);
    return bytes;
}

static void visit_memory(const char *directory, void *found)
{
    uint64_t *least_bytes = found;
    bool is_first = false;
    double most[2], used[2], left;

    if (read_numbers(directory, "memory.max", most) < 1) {
        is_first = true;
        if (read_numbers(directory, "memory.limit_in_bytes", most) < 1)
            return;
    }
    if (read_numbers(directory, is_first ? "memory.usage_in_bytes" : "memory.current", used) < 1)
        return;
    left =
        most[0] - used[0] +
        (double)inactive_file_bytes(directory, is_first ? "total_inactive_file" : "inactive_file");
    if (left < (double)*least_bytes)
        *least_bytes = left > 0 ? (uint64_t)left : 0;
}

uint64_t sg_cgroup_memory_left(const char *processes, const char *systems)
{
    uint64_t least_bytes = UINT64_MAX;

    visit_own(processes, systems, "memory", visit_memory, &least_bytes);
    return least_bytes;
}
