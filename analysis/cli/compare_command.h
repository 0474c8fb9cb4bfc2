/* The output directories of runs, for commands that are not told which one to read.
 *
 * A run writes its stagger.conf first, and never again: the time of that file is the run's begin.
 */
#ifndef SG_CLI_COMPARE_COMMAND_H
#define SG_CLI_COMPARE_COMMAND_H

#include "cli/usage.h"

#include <stdbool.h>
#include <stddef.h>

/* Up to `wanted` output directories in `where`, the newest first; `where` alone, if it is one
 * itself. launch: only those of runs that stagger run started under this name (core/launch.h), and
 * `where` as well as others; NULL: of any. Gives their number; the paths are malloc'ed. What cannot
 * be read is none. */
size_t sg_runs_find(const char *where, const char *launch, size_t wanted, char **paths);
/* The path that a command reads: its operand, or else the newest run in the working directory.
 * malloc'ed; NULL: there is none (one line). */
char *sg_runs_operand(const struct sg_usage *usage, const struct sg_arguments *operands);

/* What --help says of it. */
#define SG_RUNS_TEXT "Without DIR: the newest run in the working directory."

#endif
