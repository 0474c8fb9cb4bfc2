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

/* Figures through gnuplot: a figure is complete or not there. Nothing of the user's settings is in
 * it.
 */

/* Where the script goes; NULL: one line has said why. who: what the lines begin with. */
FILE *sg_gnuplot_script(const char *who);
/* The text in gnuplot's quotes. */
void sg_gnuplot_quote(const char *text, FILE *script);
/* Runs it, with its output for the file (output_file.h), and closes it in any case.
 * SG_ERR_MISSING: there is no gnuplot; SG_ERR_SYSTEM: it does not draw; one line has said so. */
enum sg_status sg_gnuplot_run(FILE *script, const char *path, const char *who);

/* The terminal on which a user sees what a process writes.
 *
 * Launchers read their ranks' output through pipes, so that a rank's own descriptors are hardly
 * ever a terminal's; what becomes of the output says the same descriptor of the launcher. Free of
 * MPI.
 */

/* Opens the terminal on which standard output (1) or standard error (2) is seen: the descriptor's
 * own, or, where it is a pipe, that of the launcher among the process's ancestors. -1: none is. */
int sg_terminal_open(int descriptor);

#endif
