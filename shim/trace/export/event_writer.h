/* Writes the records of one log as OTF2 events: the events of a collective call, of a nonblocking
 * one and its completion, and of a late contribution; in event_calls.c those of all other calls, in
 * event_intervals.c those of what is between calls.
 * events.c determines their order and nesting.
 *
 * Failures are noted in the archive.
 */
#ifndef SG_TRACE_EXPORT_EVENT_WRITER_H
#define SG_TRACE_EXPORT_EVENT_WRITER_H

#include "trace/export/archive.h"
#include "trace/export/export_plan.h"
#include "trace/export/logread.h"
#include "trace/export/rma_completions.h"
#include "trace/export/summary.h"
#include "trace/export/vocabulary.h"

#include <stdint.h>

/* A location of the archive: a thread of a rank, with its own stream of events. */

struct sg_location {
    uint64_t id; /* thread << 32 | rank */
    uint64_t events;
    uint64_t first_ns, last_ns; /* 0 where there is no event */
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

/* A function of MPI in the archive. */
struct sg_event_function {
    uint32_t region;
    struct sg_mpi_region about;
};

struct sg_event_writer {
    struct sg_archive *archive;
    const struct sg_plan *plan;
    const struct sg_summary *summary;
    const struct sg_plan_site **sites;         /* as summary->sites */
    struct sg_event_function *functions;       /* as summary->calls.functions */
    const struct sg_plan_profile_comm **comms; /* as summary->calls.comms; NULL: not there */
    struct sg_logread *log;
    struct sg_rma_completions completions;
    OTF2_AttributeList *attributes;
    /* the location being written */
    OTF2_EvtWriter *events; /* NULL: none */
    struct sg_location location;
    uint64_t now_ns; /* of the latest event: time never runs backwards */
};

/* False: out of memory. Clear it in any case. */
bool sg_event_writer_start(struct sg_event_writer *writer, struct sg_archive *archive,
                           const struct sg_plan *plan, const struct sg_summary *summary,
                           struct sg_logread *log);
void sg_event_writer_clear(struct sg_event_writer *writer);
/* Begins a location of the log's rank; events stays NULL on failure. */
void sg_event_writer_open(struct sg_event_writer *writer, uint32_t thread);
/* Ends it: its event count is then known. */
void sg_event_writer_close(struct sg_event_writer *writer);
/* A region that has no record, or whose record is gone. */
void sg_event_enter_region(struct sg_event_writer *writer, uint32_t region, uint64_t time_ns);
void sg_event_leave_region(struct sg_event_writer *writer, uint32_t region, uint64_t time_ns);
/* A part's MPI call; slot is its record's, by which its completion finds it again. */
void sg_event_enter(struct sg_event_writer *writer, const struct sg_recorded_call *recorded,
                    uint32_t slot);
void sg_event_leave(struct sg_event_writer *writer, const struct sg_recorded_call *recorded,
                    uint64_t end_ns);
/* The completion of a nonblocking call. */
void sg_event_complete(struct sg_event_writer *writer, const struct sg_recorded_call *recorded,
                       uint32_t slot);
void sg_event_enter_late(struct sg_event_writer *writer, const struct sg_record_late *late);

/* ---- in event_calls.c: of all calls --------------------------------------------------------- */

/* False: the record is damaged, and belongs to no function. */
bool sg_event_has_function(const struct sg_event_writer *writer,
                           const struct sg_record_event *event);
/* With the message or the collective that it posts, or sends. */
void sg_event_enter_call(struct sg_event_writer *writer, const struct sg_record_event *event,
                         uint32_t slot);
/* With what it has received. */
void sg_event_leave_call(struct sg_event_writer *writer, const struct sg_record_event *event,
                         uint32_t slot, uint64_t end_ns);
/* began: the record that began the request, NULL where there is none. */
void sg_event_request(struct sg_event_writer *writer, const struct sg_record_request *request,
                      uint32_t slot, const void *began);

/* ---- in event_intervals.c: between calls ---------------------------------------------------- */

void sg_event_interval(struct sg_event_writer *writer, const struct sg_record_interval *interval);

/* ---- in event_slices.c ---------------------------------------------------------------------- */

void sg_event_slice(struct sg_event_writer *writer, const struct sg_record_slice *record);

/* ---- for event_calls.c ---------------------------------------------------------------------- */

/* Moves the location's clock to a time, or leaves it where it is later already. */
uint64_t sg_event_advance(struct sg_event_writer *writer, uint64_t time_ns);
/* The functions of a site's path, around a call: before its Enter, and behind its Leave. site: the
 * log's index. */
void sg_event_enter_path(struct sg_event_writer *writer, uint32_t site, uint64_t time_ns);
void sg_event_leave_path(struct sg_event_writer *writer, uint32_t site, uint64_t time_ns);
/* String of a site's text; index is the log's. */
uint32_t sg_event_site_text(const struct sg_event_writer *writer, uint32_t index);

/* A request's number: unique on its rank, and never 0. slot: of the record that begins it. */
static inline uint64_t sg_event_request_of(uint64_t slot)
{
    return slot + 1;
}

#endif
