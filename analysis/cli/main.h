/* The commands of `stagger`; main.c has the table.
 *
 * A command gets its own arguments (argv[0] is its name, e.g. "report") and returns the exit
 * status: 0, 1 on bad input (one line on stderr says which), 2 on bad usage.
 */
#ifndef SG_CLI_MAIN_H
#define SG_CLI_MAIN_H

#include "options/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

int sg_command_run(int argc, char **argv);
int sg_command_report(int argc, char **argv);
int sg_command_compare(int argc, char **argv);
int sg_command_advise(int argc, char **argv);
int sg_command_export(int argc, char **argv);
int sg_command_recover(int argc, char **argv);
int sg_command_info(int argc, char **argv);
int sg_command_doctor(int argc, char **argv);
int sg_command_arrivals(int argc, char **argv);

/* The first screen of the report, which `stagger run` prints on standard error when its program has
 * ended.
 */

/* True if this process is a rank, or another process that an MPI launcher started. */
bool sg_brief_is_rank(void);
/* Prints the summary of the newest run in `where` that was started under this launch name
 * (core/launch.h), or that no process recorded anything. words: the command line that `stagger run`
 * started; if its launcher is another MPI's and made each rank a job of its own, one line says so
 * instead. Reading may take a twentieth of took_ns, at least 3 s and at most 10 s; a longer reading
 * is left to `stagger report`, which one line names. If ranks did not finish, their logs get the
 * exit status. Call it after sg_child_start. */
void sg_brief_tell(const char *where, const char *launch, char *const *words, uint64_t took_ns,
                   int exit_status, bool is_told);

/* A child process that `stagger run` starts and waits for. It makes `stagger run` transparent to
 * its own parent: signals sent to this process reach the program, and this process ends the way the
 * program ended.
 *
 * From sg_child_start on, this process blocks all signals except those that stop a process. The
 * terminal signals both processes, which are in one process group, so those signals are not
 * forwarded; a timer's signal is. Not thread-safe.
 */

/* Forks a child that restores the signal mask and dispositions this process started with, runs
 * `work` and exits with its return value. The child is killed if this process dies. Returns -1 with
 * errno set if fork fails; this process then has its original signal state back. */
pid_t sg_child_start(int (*work)(void *context), void *context);

/* Waits for the child to end and forwards signals meanwhile. Returns its waitpid status. *is_told:
 * some signal came that ends programs or announces that. */
int sg_child_await(pid_t child, bool *is_told);

/* Waits until the child ends, limit_ns pass, or a signal arrives that would terminate this process;
 * in the last two cases it kills the child and returns false. */
bool sg_child_await_briefly(pid_t child, uint64_t limit_ns);

/* Ends this process the way the child ended: returns its exit status, or does not return if a
 * signal terminated it. */
int sg_child_status(int status);

/* Finds the output directories of runs, for commands that are given no directory.
 *
 * A run writes its stagger.conf first and never again, so that file's modification time is the
 * start time of the run.
 */

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
