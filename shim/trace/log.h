/* Writes a rank's log: reserve a slot, fill it, publish it. Also tests whether a log's writer is
 * alive, and reads the present call of another rank from its log.
 *
 * The whole file is mapped once, beyond its end, and fallocate'd segment by segment before use, so
 * that a full disk is a status and never SIGBUS. Reserving is one fetch-and-add; ordinary calls
 * make the next segment ready, so that a signal handler never needs a system call.
 *
 * Thread-safe and lock-free except for growth, which takes a mutex in ordinary calls only.
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

/* Creates DIR/rank-NNNNNN.log (mode 0644 less the umask, never an existing one). Does not log
 * errors, because the ranks agree first and one of them reports; errno has the reason. */
enum sg_status sg_log_create(const struct sg_log_options *options, struct sg_log **out);
struct sg_log_header *sg_log_header(struct sg_log *log);
/* [handler] Returns a free slot for an event, zeroed. NULL if the limit is reached or the disk is
 * full; the event then counts as dropped. Publish with sg_log_publish. */
void *sg_log_event(struct sg_log *log);
/* [handler] Counts an event that the log has no capacity for; sg_log_event does so by itself. */
void sg_log_drop_event(struct sg_log *log);
/* As sg_log_event, but also makes the next segment ready in time: for ordinary calls only. */
void *sg_log_event_growing(struct sg_log *log);
/* As sg_log_event_growing, for adjacent slots of as many events. NULL does not count as dropped. */
void *sg_log_event_block(struct sg_log *log, unsigned slots);
/* As sg_log_event_growing, for adjacent slots, zeroed except for the kinds of those after the
 * first. NULL does not count as dropped. */
void *sg_log_event_slots(struct sg_log *log, unsigned slots);
/* [handler] As sg_log_event_slots, from the slots that are ready: never grows the file. */
void *sg_log_event_slots_now(struct sg_log *log, unsigned slots);
/* [handler] Makes a filled record visible: stores its kind with release order. */
void sg_log_publish(void *record, enum sg_record_kind kind);
/* Returns adjacent slots for a definition with text_bytes of data, and copies the data into the
 * continuation slots. The first slot is zeroed; the caller fills and publishes it. NULL if the disk
 * is full. */
void *sg_log_definition(struct sg_log *log, const void *text, size_t text_bytes);
/* Returns adjacent slots for an entry that is updated in place, zeroed except for the kinds of
 * those after the first. NULL if the disk is full. */
void *sg_log_entry(struct sg_log *log, unsigned slots);
/* Sets the state, truncates the file to its used size and unmaps it: nothing more can be recorded.
 * The writer still counts as alive (sg_lock_take). */
void sg_log_finish(struct sg_log *log, enum sg_log_state state);
/* Finishes the log if that has not been done, and frees it. */
void sg_log_close(struct sg_log *log, enum sg_log_state state);
/* After fork, in the child: releases mapping and file without touching their contents. */
void sg_log_forget(struct sg_log *log);

/* Tests whether a log's writer is alive.
 *
 * The writer holds a lock on a byte of its log as long as it may still write to the log or to the
 * archive made from it. The lock belongs to the open file: it ends with the process, however that
 * ends; it works across machines that share the file system; and other processes only test it and
 * never take it. If the file system has no locks, the writer's process is looked up on its machine.
 *
 * Thread-safe; makes system calls, so not for signal handlers.
 */

/* Writer: takes the lock on a file opened for writing. Returns true if the lock is held. */
bool sg_lock_take(int file);
/* Reader: true if a process holds the lock of the file; false also if that cannot be tested. */
bool sg_lock_is_held(int file);
/* Reader: true if the writer of the log with that header is alive and is not this process. */
bool sg_lock_writer_lives(int file, const struct sg_log_header *header);

/* The call that a rank is in, or its last one, for a line about a long wait. */
struct sg_log_present {
    bool lives;     /* the rank's process */
    bool has_place; /* site, module and offset are known */
    char function[64];
    uint32_t site; /* its id */
    uint64_t offset;
    char module[128]; /* base name, maybe cut from the left */
    char comm[64];    /* name of its communicator, unless that is MPI_COMM_WORLD; "": none */
    int32_t from, to; /* ranks of the communicator; to: also a root; < 0: none, or SG_THREAD_ANY */
    uint8_t mode;     /* enum sg_function_mode (profile/counted_functions.h) */
    uint64_t begin_ns, end_ns; /* by the writer's clock; end_ns: 0 if the call is open */
};

/* Reads the call from the log of a rank of the run with that identity (struct sg_log_header): that
 * of the thread that called MPI_Init, or of another one that is in a call if that thread is in
 * none. The log is read in pieces and never mapped, because its writer may truncate it meanwhile.
 * False: there is no such log. Makes system calls. */
bool sg_log_present(const char *unique, const char *path, struct sg_log_present *out);

#endif
