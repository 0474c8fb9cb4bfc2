#include "cli/locate.h"

#include "core/config.h"
#include "own_directory.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *sg_locate_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

char *sg_locate_library(void)
{
    static const char *const places[] = {"", "../lib/stagger/", "../lib/"};
    char own[PATH_MAX];

    if (!sg_own_directory(own))
        return NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *path;
        char *real;

        if (asprintf(&path, "%s/%slibstagger.so", own, places[i]) < 0)
            return NULL;
        real = realpath(path, NULL);
        free(path);
        if (real != NULL)
            return real;
    }
    return NULL;
}

static bool is_program(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

char *sg_locate_program(const char *name)
{
    const char *places = sg_config_environment("PATH");

    if (*name == '\0')
        return NULL;
    if (strchr(name, '/') != NULL)
        return is_program(name) ? strdup(name) : NULL;
    /* As execvp does when PATH is not set. */
    if (places == NULL)
        places = "/bin:/usr/bin";
    for (;;) {
        size_t length = strcspn(places, ":");
        char *path;

        /* An empty element is the current directory. */
        if (asprintf(&path, "%.*s%s%s", (int)length, places, length > 0 ? "/" : "", name) < 0)
            return NULL;
        if (is_program(path))
            return path;
        free(path);
        if (places[length] == '\0')
            return NULL;
        places += length + 1;
    }
}
