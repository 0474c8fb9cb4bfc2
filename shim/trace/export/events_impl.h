/* The inside of writing events, for the two files that it is made of: their order and nesting
 * (events.c) and what one record is written as (events_each.c).
 */
#ifndef SG_TRACE_EVENTS_IMPL_H
#define SG_TRACE_EVENTS_IMPL_H

#include "trace/export/events.h"
#include "trace/export/part.h"

/* Late contributions inside late contributions; one more closes the innermost. */
#define SG_EVENT_DEPTH_LIMIT 16

struct sg_open_region {
    uint64_t end_ns;
    uint32_t slot;
};

struct sg_event_writer {
    struct sg_archive *archive;
    const struct sg_plan *plan;
    const struct sg_summary *summary;
    struct sg_logread *log;
    uint64_t finalize_end_ns;
    uint32_t *site_texts; /* strings, as summary->sites */
    /* the location being written */
    OTF2_EvtWriter *events;
    OTF2_AttributeList *attributes;
    struct sg_locations *locations;
    struct sg_location location;
    uint64_t now_ns; /* of the latest event: time never runs backwards */
    struct sg_open_region open[SG_EVENT_DEPTH_LIMIT];
    int depth;
};

static inline void sg_event_check(struct sg_event_writer *writer, OTF2_ErrorCode code)
{
    if (code != OTF2_SUCCESS)
        sg_archive_check(writer->archive, code);
}

/* Moves the location's clock to a time, or leaves it where it is later already. */
static inline uint64_t sg_event_advance(struct sg_event_writer *writer, uint64_t time_ns)
{
    if (time_ns > writer->now_ns)
        writer->now_ns = time_ns;
    if (writer->location.first_ns == 0)
        writer->location.first_ns = writer->now_ns;
    writer->location.last_ns = writer->now_ns;
    return writer->now_ns;
}

/* A part's MPI call; slot is its record's, by which its completion finds it again. */
void sg_event_enter(struct sg_event_writer *writer, const struct sg_part *part, uint32_t slot);
void sg_event_leave(struct sg_event_writer *writer, const struct sg_part *part, uint64_t end_ns);
/* The completion of a post. */
void sg_event_complete(struct sg_event_writer *writer, const struct sg_part *part, uint32_t slot);

void sg_event_enter_late(struct sg_event_writer *writer, const struct sg_record_late *late);

#endif
