#include "cli/configuration.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CONFIGURATION_BYTES 65536

char *sg_read_configuration(const char *path)
{
    struct stat info;
    const char *slash = strrchr(path, '/');
    bool directory = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    int length = directory ? (int)strlen(path) : slash != NULL ? (int)(slash - path) : 0;
    char *name, *text = NULL;
    FILE *file;

    if (asprintf(&name, "%.*s%sstagger.conf", length, path,
                 length > 0 || slash != NULL ? "/" : "") < 0)
        return NULL;
    file = fopen(name, "r");
    free(name);
    if (file == NULL)
        return NULL;
    text = calloc(1, CONFIGURATION_BYTES);
    if (text != NULL && fread(text, 1, CONFIGURATION_BYTES - 1, file) == 0) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}
