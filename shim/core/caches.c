#include "core/caches.h"

#include "core/rank_list.h"

#include <stdio.h>
#include <string.h>

#define CACHES_MAX 16
#define LINE_BYTES 512

/* The first line of a file of the first processor's; false: there is none. */
static bool read_line(const char *sys, const char *name, char line[LINE_BYTES])
{
    char path[4096];
    FILE *file;
    bool got;

    snprintf(path, sizeof path, "%s/devices/system/cpu/cpu0/%s", sys, name);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    got = fgets(line, LINE_BYTES, file) != NULL;
    fclose(file);
    if (got)
        line[strcspn(line, "\n")] = '\0';
    return got;
}

/* "0-7,64-71": 16; 0: it is not such a list. */
static int count_listed(const char *text)
{
    struct sg_rank_list list;
    int count = 0;

    if (!sg_rank_list_parse(text, &list))
        return 0;
    for (uint32_t i = 0; i < list.count; i++)
        count += (int)(list.ranges[i].last - list.ranges[i].first) + 1;
    return count;
}

int sg_caches_cores(const char *sys)
{
    char name[64], line[LINE_BYTES];
    int last_level = 0, sharing = 0, threads = 1;

    for (int i = 0; i < CACHES_MAX; i++) {
        int level;

        snprintf(name, sizeof name, "cache/index%d/level", i);
        if (!read_line(sys, name, line) || sscanf(line, "%d", &level) != 1)
            break;
        snprintf(name, sizeof name, "cache/index%d/shared_cpu_list", i);
        if (level > last_level && read_line(sys, name, line)) {
            last_level = level;
            sharing = count_listed(line);
        }
    }
    if (read_line(sys, "topology/thread_siblings_list", line))
        threads = count_listed(line);
    return threads > 1 ? sharing / threads : sharing;
}
