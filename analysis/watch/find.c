#include "watch/find.h"

#include "core/file.h"
#include "trace/export/logread.h"
#include "trace/lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the logs of a directory say. */
struct candidate {
    bool runs;
    uint64_t begin_ns; /* by the clock of the day */
};

/* Any log whose writer lives will do. */
static bool look_at(void *context, const char *path, int rank)
{
    struct candidate *candidate = context;
    struct sg_log_header header;
    struct sg_refusal why;
    int file;

    if (sg_file_open(path, O_NOFOLLOW, &file) != 0)
        return true;
    if (pread(file, &header, sizeof header, 0) == sizeof header &&
        sg_logread_check(&header, &why) == SG_OK && header.rank == rank &&
        atomic_load_explicit(&header.state, memory_order_relaxed) == SG_LOG_RUNNING &&
        sg_lock_writer_lives(file, &header)) {
        candidate->runs = true;
        candidate->begin_ns = header.realtime_ns;
    }
    close(file);
    return !candidate->runs;
}

/* Keeps it in *best, where it is newer than what is there. False: no memory. */
static bool consider(const char *path, struct candidate *best, char **best_path)
{
    struct candidate candidate = {0};
    char *copy;

    sg_logread_visit(path, look_at, &candidate);
    if (!candidate.runs || (best->runs && candidate.begin_ns <= best->begin_ns))
        return true;
    copy = strdup(path);
    if (copy == NULL)
        return false;
    free(*best_path);
    *best_path = copy;
    *best = candidate;
    return true;
}

/* Only of directories: a path below anything else cannot be opened as one. */
static bool consider_below(const char *where, DIR *stream, struct candidate *best, char **best_path)
{
    struct dirent *entry;
    bool has_memory = true;

    while (has_memory && (entry = readdir(stream)) != NULL) {
        char *path;

        if (entry->d_name[0] == '.' ||
            (entry->d_type != DT_DIR && entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN))
            continue;
        if (strcmp(where, ".") == 0)
            path = strdup(entry->d_name);
        else if (asprintf(&path, "%s/%s", where, entry->d_name) < 0)
            path = NULL;
        has_memory = path != NULL && consider(path, best, best_path);
        free(path);
    }
    return has_memory;
}

enum sg_status sg_live_find(const char *where, char **directory)
{
    struct candidate best = {0};
    DIR *stream = opendir(where);
    bool has_memory;
    char *path = NULL;

    if (stream == NULL) {
        sg_log("%s: %m", where);
        return SG_ERR_SYSTEM;
    }
    has_memory = consider(where, &best, &path) && consider_below(where, stream, &best, &path);
    closedir(stream);
    if (!has_memory) {
        sg_log("%s: %s", where, sg_status_text(SG_ERR_MEMORY));
        free(path);
        return SG_ERR_MEMORY;
    }
    if (path == NULL) {
        sg_log("no job runs with its output directory in %s; name the directory: stagger watch DIR",
               strcmp(where, ".") == 0 ? "this one" : where);
        return SG_ERR_MISSING;
    }
    *directory = path;
    return SG_OK;
}
