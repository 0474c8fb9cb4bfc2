#include "cli/configuration.h"

#include "core/file.h"
#include "core/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIGURATION_BYTES 65536

char *sg_read_configuration(const char *path)
{
    struct stat info;
    const char *slash = strrchr(path, '/');
    bool directory = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    int length = directory ? (int)strlen(path) : slash != NULL ? (int)(slash - path) : 0;
    char *name, *text;
    ssize_t bytes;
    int error, file;

    if (asprintf(&name, "%.*s%sstagger.conf", length, path,
                 length > 0 || slash != NULL ? "/" : "") < 0)
        return NULL;
    error = sg_file_open(name, O_NOFOLLOW, &file);
    if (error != 0 && error != ENOENT)
        sg_log("%s: %s", name, sg_file_error(error));
    free(name);
    if (error != 0)
        return NULL;
    text = calloc(1, CONFIGURATION_BYTES);
    bytes = text != NULL ? read(file, text, CONFIGURATION_BYTES - 1) : 0;
    close(file);
    if (bytes > 0)
        return text;
    free(text);
    return NULL;
}
