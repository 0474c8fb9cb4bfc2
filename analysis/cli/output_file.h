/* A file that a command makes: whole or not at all. What is written goes to a file beside it, which
 * takes its name at the end, so that neither a failure nor an interruption leaves half a file or
 * costs the one that was there. "-" is standard output; what is no ordinary file (a pipe, a device)
 * is written to directly.
 */
#ifndef SG_CLI_OUTPUT_FILE_H
#define SG_CLI_OUTPUT_FILE_H

#include "core/status.h"

#include <stdio.h>

struct sg_output_file {
    const char *path;
    char *beside; /* what is written to; NULL: the path itself */
    FILE *stream;
};

/* SG_ERR_SYSTEM, SG_ERR_MEMORY: logged. path lives as long as the file. */
enum sg_status sg_output_file_open(const char *path, struct sg_output_file *out);

/* Closes it. With SG_OK it takes its name; with any other status it is removed. Returns status, or
 * SG_ERR_SYSTEM (logged) where it could not be written. */
enum sg_status sg_output_file_close(struct sg_output_file *file, enum sg_status status);

#endif
