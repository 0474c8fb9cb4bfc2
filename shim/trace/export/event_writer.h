/* Writes the records of one log as OTF2 events: the events of a collective call, of a nonblocking
 * one and its completion, and of a late contribution. events.c determines their order and nesting.
 *
 * Failures are noted in the archive.
 */
#ifndef SG_TRACE_EVENT_WRITER_H
#define SG_TRACE_EVENT_WRITER_H

#include "trace/export/archive.h"
#include "trace/export/location.h"
#include "trace/export/plan.h"
#include "trace/export/recorded_call.h"
#include "trace/export/summary.h"

struct sg_event_writer {
    struct sg_archive *archive;
    const struct sg_plan *plan;
    const struct sg_summary *summary;
    uint32_t *site_texts; /* strings, as summary->sites */
    OTF2_AttributeList *attributes;
    /* the location being written */
    OTF2_EvtWriter *events; /* NULL: none */
    struct sg_location location;
    uint64_t now_ns; /* of the latest event: time never runs backwards */
};

/* False: out of memory. Clear it in any case. */
bool sg_event_writer_start(struct sg_event_writer *writer, struct sg_archive *archive,
                           const struct sg_plan *plan, const struct sg_summary *summary);
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

#endif
