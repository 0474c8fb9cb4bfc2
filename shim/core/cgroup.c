#include "core/cgroup.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Up to two numbers at the beginning of a group's file: how many there are. */
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

/* Of one group, in processors; 0: none. Version 2 has "QUOTA PERIOD" or "max PERIOD" in one file,
 * version 1 a file for each, with -1 where there is none. */
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

bool sg_cgroup_quota(const char *root, const char *path, struct sg_cgroup *out)
{
    char directory[PATH_MAX];
    size_t root_length = strlen(root);
    double least = 0;

    if (snprintf(directory, sizeof directory, "%s%s", root, path) >= (int)sizeof directory)
        return false;
    for (;;) {
        double quota = quota_of(directory);
        char *slash = strrchr(directory + root_length, '/');
        struct stat group;

        if (quota > 0 && quota <= INT_MAX / 2 && (least == 0 || quota < least) &&
            stat(directory, &group) == 0) {
            least = quota;
            out->id = (uint64_t)group.st_ino;
            out->processors = (int)least + (least > (int)least);
            memcpy(out->directory, directory, strlen(directory) + 1);
        }
        if (slash == NULL)
            break;
        *slash = '\0';
    }
    return least > 0;
}

/* Of one line of /proc/self/cgroup: "0::PATH" (version 2), or "N:CONTROLLER,...:PATH". */
static bool quota_of_line(char *line, const char *systems, struct sg_cgroup *out)
{
    char *controllers = strchr(line, ':'), *path, *item, *rest;
    char root[PATH_MAX];
    bool found = false;

    path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    if (path == NULL)
        return false;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    if (strcmp(path, "/") == 0)
        *path = '\0';
    controllers++;
    if (*controllers == '\0') {
        snprintf(root, sizeof root, "%s/fs/cgroup", systems);
        return sg_cgroup_quota(root, path, out);
    }
    snprintf(root, sizeof root, "%s/fs/cgroup/cpu", systems);
    for (item = strtok_r(controllers, ",", &rest); item != NULL && !found;
         item = strtok_r(NULL, ",", &rest))
        found = strcmp(item, "cpu") == 0 && sg_cgroup_quota(root, path, out);
    return found;
}

bool sg_cgroup_own(const char *processes, const char *systems, struct sg_cgroup *out)
{
    char line[PATH_MAX];
    bool found = false;
    struct sg_cgroup group;
    FILE *file;

    snprintf(line, sizeof line, "%s/self/cgroup", processes);
    file = fopen(line, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (!quota_of_line(line, systems, &group) || (found && group.processors >= out->processors))
            continue;
        *out = group;
        found = true;
    }
    if (file != NULL)
        fclose(file);
    return found;
}
