/* Writes the records of one log as OTF2 events. event_writer.c writes the library's collectives:
 * blocking calls, nonblocking calls and their completions, and late contributions. event_calls.c
 * writes all other MPI calls, and event_windows.c one-sided operations, intervals between calls and
 * slices. export_events.c determines the order and nesting of events.
 *
 * Failures are recorded in the archive.
 */
#ifndef SG_TRACE_EXPORT_EVENT_WRITER_H
#define SG_TRACE_EXPORT_EVENT_WRITER_H

#include "trace/export/archive.h"
#include "trace/export/export_plan.h"
#include "trace/export/logread.h"
#include "trace/export/summary.h"
#include "trace/export/vocabulary.h"

#include <stdint.h>

/* A location of the archive: a thread of a rank, with its own stream of events. */

struct sg_location {
    uint64_t id; /* thread << 32 | rank */
    uint64_t events;
    uint64_t first_ns, last_ns; /* 0 if there is no event */
};

static inline uint64_t sg_location_id(uint32_t rank, uint32_t thread)
{
    return (uint64_t)thread << 32 | rank;
}

static inline uint32_t sg_location_rank(const struct sg_location *location)
{
    return (uint32_t)location->id;
}

static inline uint32_t sg_location_thread(const struct sg_location *location)
{
    return (uint32_t)(location->id >> 32);
}

/* A call in the log that completes a one-sided operation or releases a lock. */
enum sg_rma_end {
    SG_RMA_END_LOCAL = 1,
    SG_RMA_END_REMOTE = 2,
    SG_RMA_END_LOCK = 4, /* the lock is released */
};

struct sg_rma_completion {
    uint32_t by;   /* slot of the record that completes or releases it */
    uint32_t of;   /* slot of the event of the operation or lock */
    uint32_t ends; /* enum sg_rma_end */
};

struct sg_rma_completions {
    struct sg_rma_completion *items; /* sorted by `by`, then `of` */
    uint32_t count;
};

/* An MPI function in the archive. */
struct sg_event_function {
    uint32_t region;
    struct sg_mpi_region about;
};

struct sg_event_writer {
    struct sg_archive *archive;
    const struct sg_plan *plan;
    const struct sg_summary *summary;
    const struct sg_plan_site **sites;   /* parallel to summary->sites */
    struct sg_event_function *functions; /* parallel to summary->calls.functions */
    /* Parallel to summary->calls.comms; NULL: the archive does not have it. */
    const struct sg_plan_profile_comm **comms;
    struct sg_logread *log;
    struct sg_rma_completions completions;
    OTF2_AttributeList *attributes;
    /* The location being written. */
    OTF2_EvtWriter *events; /* NULL: none */
    struct sg_location location;
    uint64_t now_ns; /* of the latest event: time never decreases */
};

/* False: out of memory. Clear the writer in any case. Its completions are the caller's to find and
 * to clear. */
bool sg_event_writer_start(struct sg_event_writer *writer, struct sg_archive *archive,
                           const struct sg_plan *plan, const struct sg_summary *summary,
                           struct sg_logread *log);
void sg_event_writer_clear(struct sg_event_writer *writer);
/* Begins a location of the log's rank. events stays NULL on failure. */
void sg_event_writer_open(struct sg_event_writer *writer, uint32_t thread);
/* Ends the location and sets its event count. */
void sg_event_writer_close(struct sg_event_writer *writer);
/* Enter or leave a region by its number, without attributes. */
void sg_event_enter_region(struct sg_event_writer *writer, uint32_t region, uint64_t time_ns);
void sg_event_leave_region(struct sg_event_writer *writer, uint32_t region, uint64_t time_ns);
/* Enter or leave the MPI call of a rank's part in a collective. slot: the record's; the completion
 * refers to it. */
void sg_event_enter(struct sg_event_writer *writer, const struct sg_recorded_call *recorded,
                    uint32_t slot);
void sg_event_leave(struct sg_event_writer *writer, const struct sg_recorded_call *recorded,
                    uint64_t end_ns);
/* Writes the completion of a nonblocking call. */
void sg_event_complete(struct sg_event_writer *writer, const struct sg_recorded_call *recorded,
                       uint32_t slot);
void sg_event_enter_late(struct sg_event_writer *writer, const struct sg_record_late *late);

/* ---- in event_calls.c: all MPI calls --------------------------------------------------------- */

/* False: the record is damaged, since its function is unknown. */
bool sg_event_has_function(const struct sg_event_writer *writer,
                           const struct sg_record_event *event);
/* Enters a call, with the message or collective that it sends or posts. */
void sg_event_enter_call(struct sg_event_writer *writer, const struct sg_record_event *event,
                         uint32_t slot);
/* Leaves a call, with the message that it received or the collective that it ends. */
void sg_event_leave_call(struct sg_event_writer *writer, const struct sg_record_event *event,
                         uint32_t slot, uint64_t end_ns);
/* Writes an event of a request. began: the record that began the request; NULL: none. */
void sg_event_request(struct sg_event_writer *writer, const struct sg_record_request *request,
                      uint32_t slot, const void *began);

/* ---- in event_windows.c: windows, intervals between calls, and slices ------------------------ */

/* Write the events after a call's Enter or before its Leave; nothing for other calls and for calls
 * that never returned. */
void sg_event_window_begin(struct sg_event_writer *writer, const struct sg_record_event *event,
                           uint32_t slot, uint64_t time_ns);
void sg_event_window_end(struct sg_event_writer *writer, const struct sg_record_event *event,
                         uint32_t slot);
/* Writes the completions that a record causes. slot: the record's. */
void sg_event_window_completions(struct sg_event_writer *writer, uint32_t slot, uint64_t time_ns);
/* completions must be zeroed; clear it also on failure. Reads nothing if the log has no windows.
 * Returns SG_OK or SG_ERR_MEMORY. */
enum sg_status sg_rma_completions_find(struct sg_rma_completions *completions,
                                       struct sg_logread *log, const struct sg_summary *summary);
void sg_rma_completions_clear(struct sg_rma_completions *completions);

void sg_event_interval(struct sg_event_writer *writer, const struct sg_record_interval *interval);
void sg_event_slice(struct sg_event_writer *writer, const struct sg_record_slice *record);

/* ---- for the other files of the writer ------------------------------------------------------- */

/* Advances the location's clock to a time, unless it is already later. Returns the clock. */
uint64_t sg_event_advance(struct sg_event_writer *writer, uint64_t time_ns);
/* Enter or leave the functions of a site's path, around a call: before its Enter and after its
 * Leave. site: the log's index. */
void sg_event_enter_path(struct sg_event_writer *writer, uint32_t site, uint64_t time_ns);
void sg_event_leave_path(struct sg_event_writer *writer, uint32_t site, uint64_t time_ns);
/* Returns the string number of a site's text. index: the log's. */
uint32_t sg_event_site_text(const struct sg_event_writer *writer, uint32_t index);

/* Returns a request's number: unique on its rank, never 0. slot: of the record that begins it. */
static inline uint64_t sg_event_request_of(uint64_t slot)
{
    return slot + 1;
}

#endif
