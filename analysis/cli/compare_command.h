/* Finds the output directories of runs, for commands that are given no directory.
 *
 * A run writes its stagger.conf first and never again, so that file's modification time is the
 * start time of the run.
 */
#ifndef SG_CLI_COMPARE_COMMAND_H
#define SG_CLI_COMPARE_COMMAND_H

#include "options/options.h"

#include <stdbool.h>
#include <stddef.h>

/* Lists up to `wanted` output directories in `where`, newest first. If `where` is an output
 * directory itself, it is the only result. With `launch` (core/launch.h) only runs that `stagger
 * run` started under this name count, and `where` is one candidate among others; NULL: all runs.
 * Returns the number found; the paths are malloc'ed. Unreadable directories are skipped. */
size_t sg_runs_find(const char *where, const char *launch, size_t wanted, char **paths);
/* The path that a command reads: its argument, or else the newest run in the working directory.
 * malloc'ed; NULL: there is none (one line has been logged). */
char *sg_runs_operand(const struct sg_command_line *line);

/* Reads the column to sort by: a const struct sg_column *, among the option's columns. */
sg_option_reader sg_read_column;

/* Help text for commands that use sg_runs_operand. */
#define SG_RUNS_TEXT "Without DIR: the newest run in the working directory."

#endif
