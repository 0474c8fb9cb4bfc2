/* Turns the events of an archive into calls: for each location builds the open call from Enter,
 * MpiCollectiveEnd, Metric and Leave, then passes it to the instance window.
 *
 * Not thread-safe. Definitions and aggregate must outlive it.
 */
#ifndef SG_REPORT_ARCHIVE_EVENTS_H
#define SG_REPORT_ARCHIVE_EVENTS_H

#include "core/status.h"
#include "report/aggregate.h"
#include "report/archive_definitions.h"
#include "report/archive_waits.h"
#include "report/window.h"

struct sg_archive_events;

/* Adds the archive's communicators to the aggregate. waits: receives all calls of MPI, and must
 * outlive the events; NULL: not wanted. */
enum sg_status sg_archive_events_create(const struct sg_archive_defs *defs,
                                        struct sg_aggregate *aggregate,
                                        struct sg_archive_waits *waits,
                                        struct sg_archive_events **out);
void sg_archive_events_destroy(struct sg_archive_events *events);

/* Returns callbacks for OTF2, with the events as user data; free them with
 * OTF2_GlobalEvtReaderCallbacks_Delete. NULL: out of memory. */
OTF2_GlobalEvtReaderCallbacks *sg_archive_events_callbacks(void);

/* Returns the first error in a callback; it stops the reading. */
enum sg_status sg_archive_events_status(const struct sg_archive_events *events);

/* Call after the last event: drops incomplete calls, and passes the ranks' run times to the
 * aggregate. */
struct sg_window_counts sg_archive_events_finish(struct sg_archive_events *events);

#endif
