/* A process that `stagger run` starts and waits for, so that whoever waits for `stagger run` sees
 * what the program did: signals that are sent to this process reach the program, and the end of
 * this process is the program's.
 *
 * From sg_child_start on all signals but those that stop a process are blocked here. The terminal
 * sends its signals to both processes, which are in one group; they are not handed on, a timer's
 * is. Not thread-safe.
 */
#ifndef SG_CLI_CHILD_H
#define SG_CLI_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts a process that has the signals' mask and dispositions that this one had, runs `work` and
 * ends with what it returns; it is killed where this process is. -1: it cannot be started (errno),
 * and this process has its signals as before the first. */
pid_t sg_child_start(int (*work)(void *context), void *context);

/* Waits for its end and hands signals on. Gives its status, as of waitpid. */
int sg_child_await(pid_t child);

/* Waits so long at most, or until a signal would end this process, then kills it. */
void sg_child_await_briefly(pid_t child, uint64_t limit_ns);

/* Ends as the child did: gives the exit status, or does not return where a signal ended it. */
int sg_child_status(int status);

#endif
