/* Shared parts of the tests of the exporter: a directory of hand-made logs made into an archive,
 * and the archive as python3-otf2 reads it (tests/lib/check_archive.py), which also checks it. */
#ifndef SG_TESTS_EXPORT_SETUP_H
#define SG_TESTS_EXPORT_SETUP_H

#include "lib/unit.h"
#include "trace/export/export.h"
#include "trace/fabricate.h"

#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

/* The region of the program in fabricate.h's logs. */
#define SETUP_PROGRAM "byhand"

/* Makes a fresh directory of that name below the test's own. */
static inline const char *setup_directory(const char *name)
{
    static char directory[200];

    snprintf(directory, sizeof directory, "%s/%s", unit_directory(), name);
    if (mkdir(directory, 0777) != 0)
        abort();
    return directory;
}

static const char *const setup_algorithms[] = {"mpich", "bypass"};

/* Progress that the last export reported, by log: "r0 r1 w0 w1 ". */
static char setup_told[10000];

static inline void setup_tell(void *context, const char *what, int log)
{
    size_t used = strlen(setup_told);

    snprintf(setup_told + used, sizeof setup_told - used, "%c%d ", what[0], log);
}

static struct sg_export_result exported; /* by the last setup_export */

/* Exports all logs of a directory in one process, as stagger recover does. */
static inline enum sg_status setup_export(const char *directory)
{
    struct sg_export input = {
        .directory = directory,
        .algorithms = setup_algorithms,
        .algorithm_count = 2,
        .exchange = &sg_exchange_serial,
        .progress = setup_tell,
    };
    enum sg_status status;
    int missing = 0;

    setup_told[0] = '\0';
    status =
        sg_logread_open_all(directory, &input.logs, &input.log_count, &input.world_size, &missing);
    if (status != SG_OK)
        return status;
    status = sg_export_archive(&input, &exported);
    for (int i = 0; i < input.log_count; i++)
        sg_logread_close(input.logs[i]);
    free(input.logs);
    return status;
}

/* The result stays until the program ends, as do those of the functions below. */
static inline json_t *setup_load(const char *path)
{
    static json_t *kept;
    json_error_t error;
    json_t *json = json_load_file(path, 0, &error);

    if (json == NULL)
        printf("# %s: %s\n", path, error.text);
    ASSERT(json != NULL);
    if (kept == NULL)
        kept = json_array();
    json_array_append_new(kept, json);
    return json;
}

static inline void setup_without_program(json_t *events)
{
    for (size_t i = json_array_size(events); i-- > 0;) {
        const char *region =
            json_string_value(json_object_get(json_array_get(events, i), "region"));

        if (region != NULL && strcmp(region, SETUP_PROGRAM) == 0)
            json_array_remove(events, i);
    }
}

/* Checks the archive and returns its counts (tests/lib/check_archive.py, with an option). */
static inline json_t *setup_check_with(const char *directory, const char *option)
{
    char command[1500], counts[300];

    snprintf(counts, sizeof counts, "%s/counts.json", directory);
    snprintf(command, sizeof command,
             "/usr/bin/python3 tests/lib/check_archive.py %s --json %s --events %s/events.json "
             "%s/traces.otf2 >%s/checks || { grep -v '^ok' %s/checks; false; }",
             option, counts, directory, directory, directory, directory);
    ASSERT(system(command) == 0);
    return setup_load(counts);
}

/* ... and, unless NULL, its events except those of the program's region. */
static inline json_t *setup_check(const char *directory, json_t **events)
{
    json_t *counts = setup_check_with(directory, "");
    char list[300];

    if (events != NULL) {
        snprintf(list, sizeof list, "%s/events.json", directory);
        *events = setup_load(list);
        setup_without_program(*events);
    }
    return counts;
}

#endif
