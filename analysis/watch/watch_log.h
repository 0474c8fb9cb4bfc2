/* A rank's log while it grows: read without stopping its writer, in work that goes by what is new.
 *
 * What a report needs of it is kept in memory in the log's own form (trace/export/logread.h): its
 * definitions, and its statistics, which are copied anew each time. Events are passed on once, when
 * they are complete, and not kept; what is open is looked at again. The file is only read, and its
 * lock only tested.
 *
 * A time is read in four steps: sg_live_log_begin(), sg_live_log_read() until there is no more,
 * sg_live_log_end(), and then what the log holds. Not thread-safe.
 */
#ifndef SG_WATCH_WATCH_LOG_H
#define SG_WATCH_WATCH_LOG_H

#include "core/status.h"
#include "trace/export/logread.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stdint.h>

enum sg_live_state {
    SG_LIVE_RUNS,
    SG_LIVE_QUIET,    /* whether it lives cannot be told, and it has recorded nothing for a while */
    SG_LIVE_FINISHED, /* reached MPI_Finalize */
    SG_LIVE_ABORTED,  /* by MPI_Abort */
    SG_LIVE_DIED,     /* without MPI_Finalize */
    SG_LIVE_GONE,     /* its log was removed; nothing is known of the rank */
    SG_LIVE_DAMAGED,  /* its log cannot be read any more */
};

/* A call that has begun and not ended. */
struct sg_live_call {
    uint64_t slot;
    bool is_over; /* it has ended while the statistics were copied, which have it */
    union {
        _Atomic uint8_t kind;
        struct sg_record_call call;
        struct sg_record_nonblocking nonblocking;
        struct sg_record_event event;
        unsigned char bytes[SG_SLOT_BYTES]; /* kind SG_RECORD_EMPTY: not there yet */
    } record;
};

struct sg_live_log {
    int rank;
    char *path;
    enum sg_live_state state;
    struct sg_log_header header; /* checked; as it was last */
    struct sg_refusal refusal;   /* where damaged: why */
    uint64_t last_ns;            /* the latest time in it */
    uint64_t damaged;            /* records left out */
    struct sg_live_call *open;   /* by slot */
    uint32_t open_count;
    struct sg_logread *held; /* what a report reads; NULL before the first time is over */
    /* The rest is the implementation's. */
    int file;
    const unsigned char *map;
    uint64_t map_bytes, next, bound; /* slots: seen; there at this time */
    unsigned char *image;
    uint64_t image_slots, image_room;
    struct sg_live_entry *entries;
    uint32_t entry_count;
    uint64_t news_ns; /* when it grew last, or was changed, by our clock */
};

/* Takes over nothing. The file must be a log that can be read; refusal tells why not. */
enum sg_status sg_live_log_open(const char *path, int rank, struct sg_live_log *out,
                                struct sg_refusal *refusal);
void sg_live_log_close(struct sg_live_log *log);

/* What is told of records: those of call sites and communicators, and calls of collectives that are
 * complete. The record is valid during the call only. */
typedef enum sg_status (*sg_live_sink)(void *context, const struct sg_live_log *log,
                                       enum sg_record_kind kind, const void *record);

/* Looks at the file: notes how far it is to be read. False: nothing more can be read of it now. */
bool sg_live_log_begin(struct sg_live_log *log);
/* Reads the next few records; *more: there are others. SG_ERR_MEMORY, or what the sink returns. */
enum sg_status sg_live_log_read(struct sg_live_log *log, sg_live_sink sink, void *context,
                                bool *more);
/* Copies the statistics, and finds out which calls are still open. SG_ERR_MEMORY. */
enum sg_status sg_live_log_end(struct sg_live_log *log, sg_live_sink sink, void *context);

static inline bool sg_live_log_has_ended(const struct sg_live_log *log)
{
    return log->state != SG_LIVE_RUNS;
}

#endif
