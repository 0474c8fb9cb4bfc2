/* A file that a command writes: complete or not at all. The output goes to a temporary file beside
 * it, which is renamed at the end. So a failure or an interruption leaves no half-written file and
 * keeps the file that was there, whose mode the new one gets. "-" is standard output; a path that
 * is no regular file (a pipe, a device) is written to directly.
 */
#ifndef SG_OUTPUT_OUTPUT_FILE_H
#define SG_OUTPUT_OUTPUT_FILE_H

#include "core/status.h"

#include <stdio.h>

struct sg_output_file {
    const char *path;
    char *temporary; /* what is written to; NULL: the path itself */
    FILE *stream;
};

/* SG_ERR_SYSTEM, SG_ERR_MEMORY: logged. path lives as long as the file. */
enum sg_status sg_output_file_open(const char *path, struct sg_output_file *out);

/* Closes it. With SG_OK it takes its name; with any other status it is removed. Returns status, or
 * SG_ERR_SYSTEM (logged) where it could not be written. */
enum sg_status sg_output_file_close(struct sg_output_file *file, enum sg_status status);

#endif
