/* A file that a command writes completely or not at all. The output goes to a temporary file beside
 * it, which is renamed at the end. A failure or an interruption thus leaves no incomplete file and
 * keeps the old one, whose mode the new one gets. "-" is standard output; a path that is no regular
 * file (a pipe, a device) is written directly.
 *
 * The header also declares figures drawn by gnuplot, and the user's terminal.
 */
#ifndef SG_OUTPUT_OUTPUT_FILE_H
#define SG_OUTPUT_OUTPUT_FILE_H

#include "core/status.h"

#include <stdio.h>

struct sg_output_file {
    const char *path;
    char *temporary; /* the file being written; NULL: path itself */
    FILE *stream;
};

/* Returns SG_OK, SG_ERR_SYSTEM or SG_ERR_MEMORY; errors are logged. path must outlive the file. */
enum sg_status sg_output_file_open(const char *path, struct sg_output_file *out);
/* Closes the file. With SG_OK it gets its name; with any other status it is removed. Returns
 * status, or SG_ERR_SYSTEM (logged) if it could not be written. */
enum sg_status sg_output_file_close(struct sg_output_file *file, enum sg_status status);

/* Figures drawn by gnuplot: complete or absent. The user's gnuplot settings do not apply.
 */

/* Opens a stream for the script; NULL: one log line gives the reason. who: the beginning of log
 * lines. */
FILE *sg_gnuplot_script(const char *who);
/* Writes the text in gnuplot's quotes. */
void sg_gnuplot_quote(const char *text, FILE *script);
/* Runs the script, with its output in the file at path, and closes the script in any case. Returns
 * SG_ERR_MISSING if gnuplot cannot be started and SG_ERR_SYSTEM if it does not draw; one log line
 * says so. */
enum sg_status sg_gnuplot_run(FILE *script, const char *path, const char *who);

/* The terminal on which the user sees a process's output.
 *
 * Launchers read the output of ranks through pipes, so a rank's own descriptors are rarely a
 * terminal. The launcher's descriptor of the same number shows where the output goes. Independent
 * of MPI.
 */

/* Opens the terminal that shows standard output (1) or standard error (2): the descriptor's own,
 * or, if it is a pipe, that of a launcher among the process's ancestors. -1: none. */
int sg_terminal_open(int descriptor);

#endif
