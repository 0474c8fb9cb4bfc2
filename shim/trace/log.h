/* Writing a rank's log: reserve a slot, fill it, publish it.
 *
 * The whole file is mapped once, past its end; it is fallocate'd segment by segment before use,
 * so a full disk is a status and never SIGBUS. Reserving is one fetch-and-add; the segment ahead
 * is made ready by ordinary calls, so that a signal handler never needs a system call.
 *
 * Thread-safe and lock-free but for growth, which takes a mutex inside ordinary calls only.
 * Functions marked [handler] may be called from a signal handler.
 */
#ifndef SG_TRACE_LOG_H
#define SG_TRACE_LOG_H

#include "core/file.h"
#include "core/status.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stddef.h>

struct sg_log; /* one per process */

struct sg_log_options {
    const char *directory; /* exists */
    int rank;
    int world_size;
    enum sg_trace_mode mode;
    uint64_t limit_bytes; /* bound of the events; definitions and statistics may go beyond */
    uint64_t machine;
    const char *host;
    struct sg_socket place;
    const char *program;
    const char *unique;
};

/* Creates DIR/rank-NNNNNN.log (mode 0644 less the umask, never an existing one). Errors are not
 * logged here (ranks agree first, one speaks): errno tells. */
enum sg_status sg_log_create(const struct sg_log_options *options, struct sg_log **out);
struct sg_log_header *sg_log_header(struct sg_log *log);
/* [handler] A free slot for an event, zeroed; NULL when the limit or the disk is reached (the
 * event is then counted as dropped). Publish with sg_log_publish. */
void *sg_log_event(struct sg_log *log);
/* As sg_log_event, and makes the next segment ready when it is near: for ordinary calls. */
void *sg_log_event_growing(struct sg_log *log);
/* The same of so many adjacent slots, zeroed but for the kinds of those after the first; NULL is
 * not counted. */
void *sg_log_event_slots(struct sg_log *log, unsigned slots);
/* [handler] As sg_log_event_slots, of slots that are there already. */
void *sg_log_event_slots_now(struct sg_log *log, unsigned slots);
/* [handler] Makes a filled record visible: stores its kind with release order. */
void sg_log_publish(void *record, enum sg_record_kind kind);
/* Adjacent slots for a definition with text_bytes of data, which is copied into its continuation
 * slots; the first slot is zeroed, to be filled and published. NULL when the disk is full. */
void *sg_log_definition(struct sg_log *log, const void *text, size_t text_bytes);
/* Adjacent slots for an entry that is updated in place, zeroed but for the kinds of those after the
 * first; NULL when the disk is full. */
void *sg_log_entry(struct sg_log *log, unsigned slots);
/* Sets the state, cuts the file to what is used and unmaps it: nothing more can be recorded. The
 * writer goes on to count as living (trace/log.h). */
void sg_log_finish(struct sg_log *log, enum sg_log_state state);
/* Finishes the log where that has not been done, and lets go of it. */
void sg_log_close(struct sg_log *log, enum sg_log_state state);
/* After fork, in the child: lets go of mapping and file without touching what is in them. */
void sg_log_forget(struct sg_log *log);

/* Whether a log's writer is alive.
 *
 * The writer holds a lock on a byte of its log as long as it may still write to it or to the
 * archive made from it. The lock belongs to the open file: it ends with the process, however that
 * ends; it works across machines that share the file system; and others only test it and never take
 * it. If the file system has no locks, the writer's process is looked up on its machine.
 *
 * Thread-safe; system calls, not for signal handlers.
 */

/* The writer, on a file that it has opened for writing: true when the lock is held. */
bool sg_lock_take(int file);
/* A reader: whether someone holds the lock of the file. False, too, where that cannot be told. */
bool sg_lock_is_held(int file);
/* A reader: whether the writer of a log with that header lives, and is not this process. */
bool sg_lock_writer_lives(int file, const struct sg_log_header *header);

#endif
