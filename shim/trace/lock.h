/* Whether a log's writer is alive.
 *
 * The writer holds a lock on a byte of its log as long as it may still write to it or to the
 * archive made from it. The lock belongs to the open file: it ends with the process, however that
 * ends; it works across machines that share the file system; and others only test it and never take
 * it. If the file system has no locks, the writer's process is looked up on its machine.
 *
 * Thread-safe; system calls, not for signal handlers.
 */
#ifndef SG_TRACE_LOCK_H
#define SG_TRACE_LOCK_H

#include "trace/record.h"

#include <stdbool.h>

/* The writer, on a file that it has opened for writing: true when the lock is held. */
bool sg_lock_take(int file);

/* A reader: whether someone holds the lock of the file. False, too, where that cannot be told. */
bool sg_lock_is_held(int file);

/* A reader: whether the writer of a log with that header lives, and is not this process. */
bool sg_lock_writer_lives(int file, const struct sg_log_header *header);

#endif
