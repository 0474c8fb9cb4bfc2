/* All logs of a run: which of DIR/rank-NNNNNN.log can be read, and one line for each that cannot.
 */
#include "trace/export/logread.h"

#include <dirent.h>
#include <errno.h>
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
    int count, capacity;
    struct refused_log *refused; /* files that look like logs and cannot be read */
    int refused_count, refused_capacity;
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

bool sg_logread_any(const char *directory)
{
    DIR *stream = opendir(directory);
    struct dirent *entry;
    bool found = false;

    if (stream == NULL)
        return false;
    while (!found && (entry = readdir(stream)) != NULL)
        found = rank_of_name(entry->d_name) >= 0;
    closedir(stream);
    return found;
}

static void *grow(void *items, int count, int *capacity, size_t item_bytes)
{
    int larger = *capacity > 0 ? 2 * *capacity : 16;
    void *moved;

    if (count < *capacity)
        return items;
    moved = realloc(items, (size_t)larger * item_bytes);
    if (moved != NULL)
        *capacity = larger;
    return moved;
}

static enum sg_status keep_log(struct log_set *set, struct sg_logread *log)
{
    struct sg_logread **logs = grow(set->logs, set->count, &set->capacity, sizeof *logs);

    if (logs == NULL)
        return SG_ERR_MEMORY;
    set->logs = logs;
    logs[set->count++] = log;
    return SG_OK;
}

static enum sg_status keep_refusal(struct log_set *set, int rank, const struct sg_refusal *why)
{
    struct refused_log *refused =
        grow(set->refused, set->refused_count, &set->refused_capacity, sizeof *refused);

    if (refused == NULL)
        return SG_ERR_MEMORY;
    set->refused = refused;
    refused[set->refused_count++] = (struct refused_log){.rank = rank, .why = *why};
    return SG_OK;
}

static enum sg_status add_log(struct log_set *set, const char *name, int rank)
{
    struct sg_refusal why = {.status = SG_ERR_FORMAT, .reason = "says that it is another rank's"};
    struct sg_logread *log = NULL;
    enum sg_status status;
    char path[4096];

    if (snprintf(path, sizeof path, "%s/%s", set->directory, name) >= (int)sizeof path) {
        why.status = SG_ERR_SYSTEM;
        snprintf(why.reason, sizeof why.reason, "%s", strerror(ENAMETOOLONG));
        return keep_refusal(set, rank, &why);
    }
    status = sg_logread_try(path, &log, &why);
    if (status == SG_ERR_MEMORY)
        return status;
    if (status == SG_OK && sg_logread_header(log)->rank == rank) {
        status = keep_log(set, log);
        if (status != SG_OK)
            sg_logread_close(log);
        return status;
    }
    sg_logread_close(log);
    return keep_refusal(set, rank, &why);
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
static enum sg_status keep_one_run(struct log_set *set)
{
    static const struct sg_refusal other = {SG_ERR_FORMAT, "is of another run"};
    const struct sg_log_header *first = sg_logread_header(set->logs[0]);
    enum sg_status status = SG_OK;
    int kept = 0;

    for (int i = 0; i < set->count; i++) {
        const struct sg_log_header *header = sg_logread_header(set->logs[i]);

        if (header->world_size == first->world_size && strcmp(header->unique, first->unique) == 0) {
            set->logs[kept++] = set->logs[i];
            continue;
        }
        if (keep_refusal(set, header->rank, &other) != SG_OK)
            status = SG_ERR_MEMORY;
        sg_logread_close(set->logs[i]);
    }
    set->count = kept;
    return status;
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
        sg_log("%s: %d ranks in all without a readable log", set->directory, missing);
}

/* Nothing can be read: one line, by the lowest rank's log where there is one. */
static enum sg_status say_none(struct log_set *set)
{
    if (set->refused_count == 0) {
        sg_log("%s: holds no logs of a run (" SG_LOG_NAME_FORMAT ", ...)", set->directory, 0);
        return SG_ERR_MISSING;
    }
    qsort(set->refused, (size_t)set->refused_count, sizeof *set->refused, by_refused_rank);
    sg_log("%s/" SG_LOG_NAME_FORMAT ": %s", set->directory, set->refused[0].rank,
           set->refused[0].why.reason);
    return set->refused[0].why.status;
}

static enum sg_status read_directory(struct log_set *set)
{
    enum sg_status status = SG_OK;
    struct dirent *entry;
    DIR *directory = opendir(set->directory);

    if (directory == NULL) {
        sg_log("%s: %m", set->directory);
        return SG_ERR_SYSTEM;
    }
    while (status == SG_OK && (entry = readdir(directory)) != NULL) {
        int rank = rank_of_name(entry->d_name);

        if (rank >= 0)
            status = add_log(set, entry->d_name, rank);
    }
    closedir(directory);
    if (status != SG_OK)
        sg_log("%s: %s", set->directory, sg_status_text(status));
    return status;
}

enum sg_status sg_logread_open_all(const char *directory, struct sg_logread ***logs, int *count,
                                   int *world_size, int *missing)
{
    struct log_set set = {.directory = directory};
    enum sg_status status = read_directory(&set);

    if (status == SG_OK && (set.count == 0 || set.logs == NULL))
        status = say_none(&set);
    if (status != SG_OK)
        goto err_close;
    qsort(set.logs, (size_t)set.count, sizeof(struct sg_logread *), by_log_rank);
    status = keep_one_run(&set);
    if (status != SG_OK) {
        sg_log("%s: %s", directory, sg_status_text(status));
        goto err_close;
    }
    if (set.refused_count > 0)
        qsort(set.refused, (size_t)set.refused_count, sizeof *set.refused, by_refused_rank);
    *logs = set.logs;
    *count = set.count;
    *world_size = sg_logread_header(set.logs[0])->world_size;
    *missing = *world_size - set.count;
    say_missing(&set, *world_size);
    free(set.refused);
    return SG_OK;

err_close:
    for (int i = 0; i < set.count; i++)
        sg_logread_close(set.logs[i]);
    free(set.logs);
    free(set.refused);
    return status;
}

static bool any_lives(const char *directory)
{
    DIR *stream = opendir(directory);
    struct dirent *entry;
    char path[4096];
    bool lives = false;

    if (stream == NULL)
        return false;
    while (!lives && (entry = readdir(stream)) != NULL) {
        struct sg_refusal why;
        struct sg_logread *log;

        if (rank_of_name(entry->d_name) < 0 ||
            snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) >= (int)sizeof path ||
            sg_logread_try(path, &log, &why) != SG_OK)
            continue;
        lives = sg_logread_lives(log);
        sg_logread_close(log);
    }
    closedir(stream);
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
