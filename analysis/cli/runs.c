#include "cli/runs.h"

#include "core/file.h"
#include "core/launch.h"
#include "core/room.h"
#include "core/status.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Of many runs only so many, the newest, are asked who started them. */
#define ASKED_MAX 64

struct run {
    char *path;
    struct timespec begun;
};

struct runs {
    struct run *of;
    size_t count;
};

static int by_age(const void *first, const void *second)
{
    const struct run *a = first, *b = second;

    if (a->begun.tv_sec != b->begun.tv_sec)
        return a->begun.tv_sec > b->begun.tv_sec ? -1 : 1;
    if (a->begun.tv_nsec != b->begun.tv_nsec)
        return a->begun.tv_nsec > b->begun.tv_nsec ? -1 : 1;
    return strcmp(b->path, a->path);
}

/* malloc'ed; NULL: no memory. */
static char *path_below(const char *where, const char *name)
{
    char *path;

    if (strcmp(where, ".") == 0)
        return strdup(name);
    return asprintf(&path, "%s/%s", where, name) >= 0 ? path : NULL;
}

/* Takes the path. */
static void consider(struct runs *runs, char *path)
{
    char *file = path != NULL ? path_below(path, SG_RUN_FILE) : NULL;
    struct stat info;

    if (file == NULL || lstat(file, &info) != 0 || !S_ISREG(info.st_mode) ||
        !SG_APPEND(runs->of, runs->count, ((struct run){path, info.st_mtim})))
        free(path);
    free(file);
}

static bool is_started_by(const char *path, const char *launch)
{
    char line[SG_LAUNCH_BYTES + sizeof SG_LAUNCH_LINE + 64];
    char *name = path_below(path, SG_RUN_FILE);
    size_t prefix = strlen(SG_LAUNCH_LINE);
    bool found = false;
    FILE *file = NULL;
    int descriptor = -1;

    if (name != NULL && sg_file_open(name, O_NOFOLLOW, &descriptor) == 0)
        file = fdopen(descriptor, "r");
    free(name);
    if (file == NULL && descriptor >= 0)
        close(descriptor);
    if (file == NULL)
        return false;
    for (int i = 0; i < 2 && !found && fgets(line, sizeof line, file) != NULL; i++) {
        line[strcspn(line, "\n")] = '\0';
        found = strncmp(line, SG_LAUNCH_LINE, prefix) == 0 && strcmp(line + prefix, launch) == 0;
    }
    fclose(file);
    return found;
}

static void collect(const char *where, bool is_among_others, struct runs *runs)
{
    struct dirent *entry;
    DIR *stream;

    consider(runs, strdup(where));
    if (runs->count > 0 && !is_among_others)
        return;
    stream = opendir(where);
    if (stream == NULL)
        return;
    while ((entry = readdir(stream)) != NULL) {
        if (entry->d_name[0] != '.' &&
            (entry->d_type == DT_DIR || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN))
            consider(runs, path_below(where, entry->d_name));
    }
    closedir(stream);
    if (runs->count > 0)
        qsort(runs->of, runs->count, sizeof *runs->of, by_age);
}

size_t sg_runs_find(const char *where, const char *launch, size_t wanted, char **paths)
{
    struct runs runs = {0};
    size_t found = 0;

    collect(where, launch != NULL, &runs);
    for (size_t i = 0; i < runs.count; i++) {
        if (found < wanted &&
            (launch == NULL || (i < ASKED_MAX && is_started_by(runs.of[i].path, launch))))
            paths[found++] = runs.of[i].path;
        else
            free(runs.of[i].path);
    }
    free(runs.of);
    return found;
}

char *sg_runs_operand(const struct sg_usage *usage, const struct sg_arguments *operands)
{
    char *path = NULL;

    if (operands->count > 0) {
        path = strdup(operands->words[0]);
        if (path == NULL)
            sg_log("%s: %s", usage->command, sg_status_text(SG_ERR_MEMORY));
    } else if (sg_runs_find(".", NULL, 1, &path) == 0) {
        sg_log("%s: no run has its output directory in this one; name it: stagger %s DIR",
               usage->command, usage->command);
    }
    return path;
}
