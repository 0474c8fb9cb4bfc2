/* Reads a configuration from a made-up environment and file, for tests of the configuration. */
#ifndef SG_TESTS_CORE_CONFIG_SUPPORT_H
#define SG_TESTS_CORE_CONFIG_SUPPORT_H

#include "core/capture.h"
#include "core/config.h"
#include "lib/unit.h"

static inline void clear_environment(void)
{
    for (char **at = environ; *at != NULL;) {
        if (strncmp(*at, "STAGGER_", 8) == 0) {
            char *name = strndup(*at, strcspn(*at, "="));

            unsetenv(name);
            free(name);
            at = environ;
        } else {
            at++;
        }
    }
}

/* Reads the configuration of an environment given as name, value, ..., NULL; returns the log. */
static inline char *read_with(struct sg_config *config, const char *const *variables)
{
    struct capture capture;

    clear_environment();
    for (; variables[0] != NULL; variables += 2)
        setenv(variables[0], variables[1], 1);
    capture_begin(&capture);
    EXPECT(sg_config_read(config, true) == SG_OK);
    clear_environment();
    return capture_end(&capture);
}

#define READ(config, ...) read_with(config, (const char *const[]){__VA_ARGS__, NULL, NULL})

static inline const char *write_file(const char *content, size_t size_bytes)
{
    static char path[200];

    snprintf(path, sizeof path, "%s/stagger.conf", unit_directory());
    FILE *file = fopen(path, "w");
    if (file == NULL || fwrite(content, 1, size_bytes, file) != size_bytes || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    return path;
}

static inline char *read_file_with(struct sg_config *config, const char *content)
{
    return READ(config, "STAGGER_CONFIG", write_file(content, strlen(content)));
}

/* True if the log of reading the configuration is as expected; frees both. */
static inline bool is_said(struct sg_config *config, char *log, const char *expected)
{
    bool same = strcmp(log, expected) == 0;

    if (!same)
        printf("# got: %s# not: %s", log, expected);
    free(log);
    sg_config_clear(config);
    return same;
}

/* True if reading one variable gives the expected log. */
static inline bool says(const char *name, const char *value, const char *expected)
{
    struct sg_config config;

    return is_said(&config, READ(&config, name, value), expected);
}

#endif
