/* Reads a rank's log, complete or cut off: maps the file read-only and walks its records. Also
 * finds all logs of a run, and reads a rank's part in a collective from either kind of record.
 *
 * The reader trusts nothing in the file: it checks magic, version, sizes and text lengths. A record
 * that is cut off by the end of the file, or has too few continuation slots, is left out and
 * counted.
 */
#ifndef SG_TRACE_EXPORT_LOGREAD_H
#define SG_TRACE_EXPORT_LOGREAD_H

#include "core/executed.h"
#include "core/status.h"
#include "core/text.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Times from here on are damage: 2^62 ns are 146 years. */
#define SG_TIME_LIMIT_NS (UINT64_C(1) << 62)
/* A larger number of ranks is taken for damage: tables by rank must stay affordable. */
#define SG_WORLD_LIMIT (1 << 24)

struct sg_logread; /* one open log */

struct sg_refusal {
    enum sg_status
        status;       /* SG_ERR_SYSTEM, SG_ERR_FORMAT (no log), SG_ERR_VERSION, SG_ERR_MEMORY */
    char reason[128]; /* to be printed after "PATH: " */
};

/* Opens a log. Prints nothing: on failure, refusal has the reason. */
enum sg_status sg_logread_try(const char *path, struct sg_logread **out,
                              struct sg_refusal *refusal);
/* Makes a header that was read from a file safe to use: terminates its texts and clears impossible
 * times. Refuses a header that is not a readable log's. */
enum sg_status sg_logread_check(struct sg_log_header *header, struct sg_refusal *refusal);
/* Opens a log in memory. header: already checked. image: SG_LOG_HEADER_BYTES that are ignored, then
 * the slots; it stays the caller's, who must keep it unchanged until the log is closed. NULL: no
 * memory. */
struct sg_logread *sg_logread_hold(const struct sg_log_header *header, const void *image,
                                   uint64_t slots, uint64_t damaged, uint64_t last_ns, bool lives);
/* Returns the header as it was when the log was opened; its strings are terminated, its rank is
 * within its world size. */
const struct sg_log_header *sg_logread_header(const struct sg_logread *log);
/* Copies the wait statistics from the header. */
void sg_logread_waiting(const struct sg_logread *log, struct sg_waiting *out);
/* Returns the next whole record at or after *slot (start with 0) and moves *slot past it; NULL at
 * the end. */
const void *sg_logread_next(struct sg_logread *log, uint64_t *slot, enum sg_record_kind *kind);
/* Returns the number of slots of a record just returned. */
uint64_t sg_logread_slots(const struct sg_logread *log, const void *record,
                          enum sg_record_kind kind);
/* Sets *text_bytes to the length of a record's text. False: its kind has none. */
bool sg_logread_text_bytes(const void *record, enum sg_record_kind kind, uint32_t *text_bytes);
/* Copies the text of a record just returned (text_bytes long) from its continuation slots and
 * terminates it. malloc'ed; NULL: no memory, or the log ends before the text. */
char *sg_logread_text(const struct sg_logread *log, const void *record, uint32_t text_bytes);
/* Returns the part of such a copy after `number` NULs; "" if there is none. */
const char *sg_logread_part(const char *text, uint32_t text_bytes, int number);
/* Counts slots and records left out so far because they were cut off or are of no known kind. */
uint64_t sg_logread_damaged(const struct sg_logread *log);
/* Returns the latest time in the log; readers close open regions there. */
uint64_t sg_logread_last_ns(const struct sg_logread *log);
/* Returns the latest of last_ns and the times in a record. */
uint64_t sg_logread_later(const void *record, enum sg_record_kind kind, uint64_t last_ns);
/* True if the log's writer was alive when the log was opened. The log is then a snapshot: later
 * writes are not seen. */
bool sg_logread_lives(const struct sg_logread *log);
/* Waits until no rank writes a log in the directory any more, at most most_ms: ranks that their
 * launcher has just killed take a moment to end. */
void sg_logread_await_end(const char *directory, int most_ms);
/* Counts the logs whose writer was alive. The format reports it; both its numbers are ranks. */
int sg_logread_count_living(struct sg_logread *const *logs, int count);

#define SG_LOGREAD_IN_PROGRESS "the run is still in progress (%d of %d ranks)"

void sg_logread_close(struct sg_logread *log);

/* Visits each file DIR/rank-NNNNNN.log, in any order, until a visit returns false. False: the
 * directory cannot be read, see errno. */
typedef bool (*sg_logread_visitor)(void *context, const char *path, int rank);

bool sg_logread_visit(const char *directory, sg_logread_visitor visitor, void *context);

/* The number of ranks is a log's unverified claim, and readers allocate tables of that size. So a
 * run with too few logs for the claim is refused, with this text. sg_logread_suffice: true if there
 * are enough. */
#define SG_LOGREAD_MISSING_PER_LOG 1024
#define SG_LOGREAD_TOO_FEW                                                                         \
    "only %d of %d ranks have a log; at most %d missing logs are accepted for each present one"

bool sg_logread_suffice(int logs, int world_size);
/* True if there is a file DIR/rank-NNNNNN.log. */
bool sg_logread_any(const char *directory);
/* Opens every readable DIR/rank-NNNNNN.log, by rank; the caller closes each and frees the table.
 * Logs of a run other than the lowest rank's are left out. *world_size is the logs' claim. *missing
 * counts ranks without a readable log; one line is logged for each of the first eight.
 * SG_ERR_MISSING: there is no log. SG_ERR_VERSION and others: no log can be read, or there are too
 * few for *world_size (one line). */
enum sg_status sg_logread_open_all(const char *directory, struct sg_logread ***logs, int *count,
                                   int *world_size, int *missing);

/* A rank's part in one collective, blocking or not, as its record contains it. Users of this form
 * need not distinguish the two kinds of record. The functions below also check which records are
 * plausible.
 */

struct sg_recorded_call {
    const struct sg_record_call *call; /* its record, with counts; NULL: nonblocking, without */
    uint8_t operation;                 /* of the blocking form */
    uint8_t algorithm;
    uint8_t arm;   /* candidate of a trial; 0: not in a trial */
    uint8_t flags; /* enum sg_call_flags */
    uint16_t thread;
    uint64_t slice;      /* if SG_CALL_SLICE */
    uint32_t site, comm; /* the log's indices */
    uint32_t seq;
    int32_t root;
    uint64_t bytes;
    uint64_t begin_ns;
    uint64_t end_ns; /* end of the MPI call; 0: still open */
    /* Nonblocking calls only. */
    uint64_t complete_ns; /* completion of the request; 0: not yet */
    uint64_t exposed_ns;  /* in waits and tests */
    uint16_t tests;       /* number of those */
};

/* False: the record is not a part in a collective. */
bool sg_recorded_call_read(const void *record, struct sg_recorded_call *out);
/* True if the record's times are possible; other records are left out. */
bool sg_recorded_call_is_sound(const struct sg_recorded_call *recorded);
bool sg_late_is_sound(const struct sg_record_late *late);
bool sg_event_is_sound(const struct sg_record_event *event);
bool sg_request_is_sound(const struct sg_record_request *request);

/* Completions that a record lists without a record of their own. */
struct sg_completions {
    const uint32_t *slots; /* of the records that began the requests */
    unsigned count;
    uint16_t thread;
    uint64_t time_ns;
};

/* none: count is 0. */
struct sg_completions sg_completions_of(const void *record, enum sg_record_kind kind);
/* Fills the record that one of them stands for. False: its message is not known. */
bool sg_completion_read(struct sg_logread *log, const struct sg_completions *completions,
                        unsigned index, struct sg_record_request *out);
bool sg_interval_is_sound(const struct sg_record_interval *interval);
bool sg_slice_is_sound(const struct sg_record_slice *slice);

/* Returns the time of a completed nonblocking call outside its start and its waits and tests. */
static inline uint64_t sg_recorded_call_hidden_ns(const struct sg_recorded_call *recorded)
{
    return recorded->complete_ns - recorded->end_ns - recorded->exposed_ns;
}

#endif
