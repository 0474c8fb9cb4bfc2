/* A child process that `stagger run` starts and waits for. It makes `stagger run` transparent to
 * its own parent: signals sent to this process reach the program, and this process ends the way the
 * program ended.
 *
 * From sg_child_start on, this process blocks all signals except those that stop a process. The
 * terminal signals both processes, which are in one process group, so those signals are not
 * forwarded; a timer's signal is. Not thread-safe.
 */
#ifndef SG_CLI_CHILD_H
#define SG_CLI_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Forks a child that restores the signal mask and dispositions this process started with, runs
 * `work` and exits with its return value. The child is killed if this process dies. Returns -1 with
 * errno set if fork fails; this process then has its original signal state back. */
pid_t sg_child_start(int (*work)(void *context), void *context);

/* Waits for the child to end and forwards signals meanwhile. Returns its waitpid status. */
int sg_child_await(pid_t child);

/* Waits until the child ends, limit_ns pass, or a signal arrives that would terminate this process;
 * in the last two cases it kills the child. */
void sg_child_await_briefly(pid_t child, uint64_t limit_ns);

/* Ends this process the way the child ended: returns its exit status, or does not return if a
 * signal terminated it. */
int sg_child_status(int status);

#endif
