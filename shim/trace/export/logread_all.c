/* All logs of a run: opens each DIR/rank-NNNNNN.log that can be read, and logs one line for each
 * that cannot. */
#include "core/room.h"
#include "trace/export/logread.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SPOKEN_LIMIT 8
#define LOOK_MS 20

struct refused_log {
    int rank;
    struct sg_refusal why;
};

struct log_set {
    const char *directory;
    struct sg_logread **logs;
    int count;
    struct refused_log *refused; /* files that look like logs and cannot be read */
    int refused_count;
    enum sg_status status; /* SG_ERR_MEMORY: not all that is there is in it */
};

/* The rank that a file name stands for, or -1. */
static int rank_of_name(const char *name)
{
    char expected[32];
    long rank;

    if (strncmp(name, "rank-", 5) != 0)
        return -1;
    errno = 0;
    rank = strtol(name + 5, NULL, 10);
    if (errno != 0 || rank < 0 || rank >= SG_WORLD_LIMIT)
        return -1;
    snprintf(expected, sizeof expected, SG_LOG_NAME_FORMAT, (int)rank);
    return strcmp(name, expected) == 0 ? (int)rank : -1;
}

bool sg_logread_visit(const char *directory, sg_logread_visitor visitor, void *context)
{
    DIR *stream = opendir(directory);
    struct dirent *entry;
    bool goes_on = true;
    char path[PATH_MAX + 32]; /* a directory that opens leaves room for a log's name */

    if (stream == NULL)
        return false;
    while (goes_on && (entry = readdir(stream)) != NULL) {
        int rank = rank_of_name(entry->d_name);

        if (rank < 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        goes_on = visitor(context, path, rank);
    }
    closedir(stream);
    return true;
}

static bool note_any(void *found, const char *path, int rank)
{
    *(bool *)found = true;
    return false;
}

bool sg_logread_any(const char *directory)
{
    bool found = false;

    sg_logread_visit(directory, note_any, &found);
    return found;
}

bool sg_logread_suffice(int logs, int world_size)
{
    return (world_size - logs) / SG_LOGREAD_MISSING_PER_LOG < logs;
}

/* ---- the logs of one run -------------------------------------------------------------------- */

static bool keep_log(struct log_set *set, struct sg_logread *log)
{
    if (!sg_make_room((void **)&set->logs, (size_t)set->count, sizeof(struct sg_logread *))) {
        set->status = SG_ERR_MEMORY;
        return false;
    }
    set->logs[set->count++] = log;
    return true;
}

static bool keep_refusal(struct log_set *set, int rank, const struct sg_refusal *why)
{
    if (!sg_make_room((void **)&set->refused, (size_t)set->refused_count, sizeof *set->refused)) {
        set->status = SG_ERR_MEMORY;
        return false;
    }
    set->refused[set->refused_count++] = (struct refused_log){.rank = rank, .why = *why};
    return true;
}

static bool add_log(void *context, const char *path, int rank)
{
    static const struct sg_refusal other_rank = {SG_ERR_FORMAT, "belongs to another rank"};
    struct log_set *set = context;
    struct sg_logread *log;
    struct sg_refusal why;

    if (sg_logread_try(path, &log, &why) != SG_OK) {
        if (why.status == SG_ERR_MEMORY)
            set->status = SG_ERR_MEMORY;
        return set->status == SG_OK && keep_refusal(set, rank, &why);
    }
    if (sg_logread_header(log)->rank == rank && keep_log(set, log))
        return true;
    sg_logread_close(log);
    return set->status == SG_OK && keep_refusal(set, rank, &other_rank);
}

static int by_log_rank(const void *a, const void *b)
{
    struct sg_logread *const *left = a;
    struct sg_logread *const *right = b;

    return sg_logread_header(*left)->rank - sg_logread_header(*right)->rank;
}

static int by_refused_rank(const void *a, const void *b)
{
    const struct refused_log *left = a;
    const struct refused_log *right = b;

    return left->rank - right->rank;
}

/* Leaves out logs that are not of the first log's run. */
static void keep_one_run(struct log_set *set)
{
    static const struct sg_refusal other_run = {SG_ERR_FORMAT, "belongs to another run"};
    const struct sg_log_header *first = sg_logread_header(set->logs[0]);
    int kept = 0;

    for (int i = 0; i < set->count; i++) {
        const struct sg_log_header *header = sg_logread_header(set->logs[i]);

        if (header->world_size == first->world_size && strcmp(header->unique, first->unique) == 0) {
            set->logs[kept++] = set->logs[i];
            continue;
        }
        keep_refusal(set, header->rank, &other_run);
        sg_logread_close(set->logs[i]);
    }
    set->count = kept;
}

static void say_missing(const struct log_set *set, int world_size)
{
    int missing = world_size - set->count;
    int spoken = 0;
    int next = 0;

    for (int rank = 0; rank < world_size && spoken < missing && spoken < SPOKEN_LIMIT; rank++) {
        struct refused_log key = {.rank = rank};
        const struct refused_log *refused;

        if (next < set->count && sg_logread_header(set->logs[next])->rank == rank) {
            next++;
            continue;
        }
        refused = set->refused_count == 0 ? NULL
                                          : bsearch(&key, set->refused, (size_t)set->refused_count,
                                                    sizeof key, by_refused_rank);
        if (refused != NULL)
            sg_log("%s/" SG_LOG_NAME_FORMAT ": %s", set->directory, rank, refused->why.reason);
        else
            sg_log("%s: no log of rank %d", set->directory, rank);
        spoken++;
    }
    if (missing > SPOKEN_LIMIT)
        sg_log("%s: %d ranks have no readable log", set->directory, missing);
}

static enum sg_status say_too_few(const struct log_set *set, int world_size)
{
    sg_log("%s: " SG_LOGREAD_TOO_FEW, set->directory, set->count, world_size,
           SG_LOGREAD_MISSING_PER_LOG);
    return SG_ERR_FORMAT;
}

/* Nothing can be read: one line, by the lowest rank's log where there is one. */
static enum sg_status say_none(const struct log_set *set)
{
    if (set->refused_count == 0) {
        sg_log("%s: contains no logs of a run (" SG_LOG_NAME_FORMAT ", ...)", set->directory, 0);
        return SG_ERR_MISSING;
    }
    sg_log("%s/" SG_LOG_NAME_FORMAT ": %s", set->directory, set->refused[0].rank,
           set->refused[0].why.reason);
    return set->refused[0].why.status;
}

/* All that can be read, by rank; SG_ERR_SYSTEM, SG_ERR_MEMORY: one line. */
static enum sg_status read_directory(struct log_set *set)
{
    if (!sg_logread_visit(set->directory, add_log, set)) {
        sg_log("%s: %m", set->directory);
        return SG_ERR_SYSTEM;
    }
    if (set->count > 0) {
        qsort(set->logs, (size_t)set->count, sizeof(struct sg_logread *), by_log_rank);
        keep_one_run(set);
    }
    if (set->refused_count > 0)
        qsort(set->refused, (size_t)set->refused_count, sizeof *set->refused, by_refused_rank);
    if (set->status != SG_OK)
        sg_log("%s: %s", set->directory, sg_status_text(set->status));
    return set->status;
}

enum sg_status sg_logread_open_all(const char *directory, struct sg_logread ***logs, int *count,
                                   int *world_size, int *missing)
{
    struct log_set set = {.directory = directory};
    enum sg_status status = read_directory(&set);
    int ranks = set.count > 0 ? sg_logread_header(set.logs[0])->world_size : 0;

    if (status == SG_OK && set.count == 0)
        status = say_none(&set);
    else if (status == SG_OK && !sg_logread_suffice(set.count, ranks))
        status = say_too_few(&set, ranks);
    if (status != SG_OK)
        goto err_close;
    *logs = set.logs;
    *count = set.count;
    *world_size = ranks;
    *missing = ranks - set.count;
    say_missing(&set, ranks);
    free(set.refused);
    return SG_OK;

err_close:
    for (int i = 0; i < set.count; i++)
        sg_logread_close(set.logs[i]);
    free(set.logs);
    free(set.refused);
    return status;
}

/* ---- runs that go on ------------------------------------------------------------------------ */

static bool note_living(void *lives, const char *path, int rank)
{
    struct sg_refusal why;
    struct sg_logread *log;

    if (sg_logread_try(path, &log, &why) == SG_OK) {
        *(bool *)lives = sg_logread_lives(log);
        sg_logread_close(log);
    }
    return !*(bool *)lives;
}

static bool any_lives(const char *directory)
{
    bool lives = false;

    sg_logread_visit(directory, note_living, &lives);
    return lives;
}

void sg_logread_await_end(const char *directory, int most_ms)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};

    for (int waited_ms = 0; waited_ms < most_ms && any_lives(directory); waited_ms += LOOK_MS)
        nanosleep(&pause, NULL);
}

int sg_logread_count_living(struct sg_logread *const *logs, int count)
{
    int living = 0;

    for (int i = 0; i < count; i++)
        living += sg_logread_lives(logs[i]);
    return living;
}
