/* Reads a rank's log, complete or cut off: maps the file read-only and walks its records.
 *
 * It trusts nothing in the file: magic, version, sizes and text lengths are checked. A record that
 * is cut off by the end of the file, or has too few continuation slots, is left out and counted.
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
/* Ranks beyond this are taken for damage: tables by rank must stay affordable. */
#define SG_WORLD_LIMIT (1 << 24)

struct sg_logread; /* one open log */

struct sg_refusal {
    enum sg_status
        status;       /* SG_ERR_SYSTEM, SG_ERR_FORMAT (no log), SG_ERR_VERSION, SG_ERR_MEMORY */
    char reason[128]; /* to stand behind "PATH: " */
};

/* Says nothing: refusal tells why, on failure only. */
enum sg_status sg_logread_try(const char *path, struct sg_logread **out,
                              struct sg_refusal *refusal);
/* Makes a header that was read from a file safe to use (its texts end, its times are times), and
 * says what is wrong with it. */
enum sg_status sg_logread_check(struct sg_log_header *header, struct sg_refusal *refusal);
/* A log in memory, of a checked header: at image are SG_LOG_HEADER_BYTES of no meaning, then its
 * slots. The image is the caller's, as it is to be until the log is closed. NULL: no memory. */
struct sg_logread *sg_logread_hold(const struct sg_log_header *header, const void *image,
                                   uint64_t slots, uint64_t damaged, uint64_t last_ns, bool lives);
/* As it was when the log was opened; its strings end, its rank is in its world. */
const struct sg_log_header *sg_logread_header(const struct sg_logread *log);
/* What its header tells of waiting. */
void sg_logread_waiting(const struct sg_logread *log, struct sg_waiting *out);
/* The next record at or after *slot (start with 0), or NULL at the end; *slot moves past it.
 * Only whole records are returned. */
const void *sg_logread_next(struct sg_logread *log, uint64_t *slot, enum sg_record_kind *kind);
/* How many slots a record just returned has. */
uint64_t sg_logread_slots(const struct sg_logread *log, const void *record,
                          enum sg_record_kind kind);
/* How long the text of a record is; false: its kind has none. */
bool sg_logread_text_bytes(const void *record, enum sg_record_kind kind, uint32_t *text_bytes);
/* Copies the text of a record just returned (its text_bytes) from its continuation slots and puts
 * a NUL behind it; malloc'ed. */
char *sg_logread_text(const struct sg_logread *log, const void *record, uint32_t text_bytes);
/* The text behind so many NULs in such a copy; "" where there is none. */
const char *sg_logread_part(const char *text, uint32_t text_bytes, int number);
/* Slots and records left out so far because they were cut off or are of no known kind. */
uint64_t sg_logread_damaged(const struct sg_logread *log);
/* The latest time in the log: where what is still open is closed. */
uint64_t sg_logread_last_ns(const struct sg_logread *log);
/* The later of a time and those in a record. */
uint64_t sg_logread_later(const void *record, enum sg_record_kind kind, uint64_t last_ns);
/* Whether the log's writer lived when it was opened. The log is then one moment's: what is written
 * to it later is not seen. */
bool sg_logread_lives(const struct sg_logread *log);
/* Ranks that their launcher has just killed take a moment to end: returns when no rank writes a log
 * in the directory any more, or after most_ms. */
void sg_logread_await_end(const char *directory, int most_ms);
/* How many of the logs have a writer that lives, and a command's words for it: both numbers are
 * ranks. */
int sg_logread_count_living(struct sg_logread *const *logs, int count);

#define SG_LOGREAD_IN_PROGRESS "the run is still in progress (%d of %d ranks)"

void sg_logread_close(struct sg_logread *log);

/* Visits each file DIR/rank-NNNNNN.log, in any order; a visit that returns false is the last one.
 * False: the directory cannot be read, and errno tells. */
typedef bool (*sg_logread_visitor)(void *context, const char *path, int rank);

bool sg_logread_visit(const char *directory, sg_logread_visitor visitor, void *context);

/* How many ranks there were is a log's word, and what is read of a run goes into tables by rank:
 * whether so many logs are enough for it, and the words where they are too few. */
#define SG_LOGREAD_MISSING_PER_LOG 1024
#define SG_LOGREAD_TOO_FEW                                                                         \
    "%d of %d ranks have a log: at most %d ranks without one are taken for each that has one"

bool sg_logread_suffice(int logs, int world_size);
/* Whether there is a file DIR/rank-NNNNNN.log. */
bool sg_logread_any(const char *directory);
/* Opens every DIR/rank-NNNNNN.log that can be read, by rank; the caller closes each and frees the
 * table. Logs of another run than the lowest rank's are not taken. *world_size is what they say;
 * *missing counts ranks without a readable log, each said in one line (the first eight).
 * SG_ERR_MISSING: no log at all; SG_ERR_VERSION and others: none that can be read, or too few for
 * *world_size (one line). */
enum sg_status sg_logread_open_all(const char *directory, struct sg_logread ***logs, int *count,
                                   int *world_size, int *missing);

/* A rank's part in one collective, blocking or not, as its record contains it: the exporter uses
 * this form, so that the two kinds of record are distinguished in one place. Also checks which
 * records are plausible.
 */

struct sg_recorded_call {
    const struct sg_record_call *call; /* has its counts; NULL: a nonblocking one, which has none */
    uint8_t operation;                 /* of the blocking form */
    uint8_t algorithm;
    uint8_t arm;   /* of a trial; 0: of none */
    uint8_t flags; /* enum sg_call_flags */
    uint16_t thread;
    uint64_t slice;      /* where SG_CALL_SLICE */
    uint32_t site, comm; /* the log's indices */
    uint32_t seq;
    int32_t root;
    uint64_t bytes;
    uint64_t begin_ns;
    uint64_t end_ns; /* of the MPI call; 0: still open */
    /* of a nonblocking call */
    uint64_t complete_ns; /* the request was completed; 0: not yet */
    uint64_t exposed_ns;  /* in waits and tests */
    uint16_t tests;       /* how many those were */
};

/* False: the record is no part of a collective. */
bool sg_recorded_call_read(const void *record, struct sg_recorded_call *out);
/* Whether its times can be; others are left out. */
bool sg_recorded_call_is_sound(const struct sg_recorded_call *recorded);
bool sg_late_is_sound(const struct sg_record_late *late);
bool sg_event_is_sound(const struct sg_record_event *event);
bool sg_request_is_sound(const struct sg_record_request *request);
bool sg_interval_is_sound(const struct sg_record_interval *interval);
bool sg_slice_is_sound(const struct sg_record_slice *slice);

/* Of a completed nonblocking call: its time in neither its start nor waits and tests. */
static inline uint64_t sg_recorded_call_hidden_ns(const struct sg_recorded_call *recorded)
{
    return recorded->complete_ns - recorded->end_ns - recorded->exposed_ns;
}

#endif
