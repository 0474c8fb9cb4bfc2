/* Writes the events of one log, location by location, in order of time and properly nested. */
#ifndef SG_TRACE_EXPORT_EXPORT_EVENTS_H
#define SG_TRACE_EXPORT_EXPORT_EVENTS_H

#include "trace/export/archive.h"
#include "trace/export/event_writer.h"
#include "trace/export/export_plan.h"
#include "trace/export/summary.h"

struct sg_locations {          /* zeroed at first; of all logs of this process */
    struct sg_location *items; /* malloc'ed */
    uint32_t count;
};

/* Writes the events of a log to new locations and adds these to locations: the master thread
 * always, other threads if they have events. end_ns: end of MPI_Finalize; 0: the log's last time.
 * Failures are recorded in the archive. */
void sg_events_write(struct sg_archive *archive, const struct sg_plan *plan,
                     const struct sg_summary *summary, struct sg_logread *log, uint64_t end_ns,
                     struct sg_locations *locations);
/* Writes a location without events, for a rank without a log. */
void sg_events_write_none(struct sg_archive *archive, uint32_t rank,
                          struct sg_locations *locations);

#endif
