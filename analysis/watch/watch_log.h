/* A rank's log while it grows, read without stopping its writer; each look costs time in proportion
 * to the new records and the statistics.
 *
 * The parts that a report needs are kept in memory in the log's own form (trace/export/logread.h):
 * definitions, and statistics, which are copied again at each look. Complete events go to the sink
 * once and are not kept; open records are read again at the next look. The file is only read, and
 * its lock only tested.
 *
 * A look has four steps: sg_live_log_begin(), sg_live_log_read() until there is no more,
 * sg_live_log_end(), and use of the result. Not thread-safe. */
#ifndef SG_WATCH_WATCH_LOG_H
#define SG_WATCH_WATCH_LOG_H

#include "core/status.h"
#include "trace/export/logread.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stdint.h>

enum sg_live_state {
    SG_LIVE_RUNS,
    SG_LIVE_QUIET,    /* its process cannot be checked, and it has recorded nothing for a while */
    SG_LIVE_FINISHED, /* reached MPI_Finalize */
    SG_LIVE_ABORTED,  /* by MPI_Abort */
    SG_LIVE_DIED,     /* without MPI_Finalize */
    SG_LIVE_GONE,     /* its log was removed; the rank's state is unknown */
    SG_LIVE_DAMAGED,  /* its log can no longer be read */
};

/* A call that has begun and not ended. */
struct sg_live_call {
    uint64_t slot;
    bool is_over; /* ended while the statistics, which include it, were copied */
    union {
        _Atomic uint8_t kind;
        struct sg_record_call call;
        struct sg_record_nonblocking nonblocking;
        struct sg_record_event event;
        unsigned char bytes[SG_SLOT_BYTES]; /* kind SG_RECORD_EMPTY: not written yet */
    } record;
};

#define SG_LIVE_NOT_LATE UINT32_MAX

/* Samples (watch/job.h) that found a thread in such a call, with the same answer to who is late. */
struct sg_live_sum {
    uint32_t site, function; /* in the log's numbering */
    uint32_t late;           /* the late rank, or SG_LIVE_NOT_LATE */
    uint64_t samples, ns;    /* ns: time that they stand for */
};

struct sg_live_log {
    int rank;
    char *path;
    enum sg_live_state state;
    struct sg_log_header header; /* checked; as last read */
    struct sg_refusal refusal;   /* if damaged, the reason */
    uint64_t last_ns;            /* the latest time in it */
    uint64_t damaged;            /* number of records left out */
    struct sg_live_call *open;   /* by slot */
    uint32_t open_count;
    uint64_t *threads; /* slots of struct sg_record_thread */
    uint32_t thread_count;
    struct sg_live_sum *sums;
    uint32_t sum_count;
    struct sg_logread *held; /* read by reports; NULL before the end of the first look */
    /* The rest is private to the implementation. */
    int file;
    const unsigned char *map;
    uint64_t map_bytes, next, bound; /* slots: read so far; present at this look */
    unsigned char *image;
    uint64_t image_slots, image_room;
    struct sg_live_entry *entries;
    uint32_t entry_count;
    uint64_t news_ns; /* time of the last growth or change, by this process's clock */
};

/* Copies path. If the file is not a readable log, refusal gets the reason. */
enum sg_status sg_live_log_open(const char *path, int rank, struct sg_live_log *out,
                                struct sg_refusal *refusal);
void sg_live_log_close(struct sg_live_log *log);

/* Receives records: definitions of call sites and communicators, clock points, and complete calls
 * of collectives. The record is valid only during the call. */
typedef enum sg_status (*sg_live_sink)(void *context, const struct sg_live_log *log,
                                       enum sg_record_kind kind, const void *record);

/* Begins a look: notes how much there is to read. False: nothing more can be read now. */
bool sg_live_log_begin(struct sg_live_log *log);
/* Reads the next few records; *more: others remain. SG_ERR_MEMORY, or the sink's error. */
enum sg_status sg_live_log_read(struct sg_live_log *log, sg_live_sink sink, void *context,
                                bool *more);
/* Copies the statistics and finds the calls that are still open. SG_ERR_MEMORY. */
enum sg_status sg_live_log_end(struct sg_live_log *log, sg_live_sink sink, void *context);

/* Copies a thread's record from the file, also between looks. False: it changes, or cannot be
 * read. */
bool sg_live_log_thread(const struct sg_live_log *log, uint32_t number,
                        struct sg_record_thread *out);

/* Converts the present time of this process's clock to the clock of the log's machine; exact on
 * this machine. */
uint64_t sg_live_log_clock_ns(const struct sg_live_log *log, uint64_t time_ns);

static inline bool sg_live_log_has_ended(const struct sg_live_log *log)
{
    return log->state != SG_LIVE_RUNS;
}

#endif
