/* From the events of an archive to calls: for each location the open call, put together from Enter,
 * MpiCollectiveEnd, Metric and Leave and then passed to the instance window.
 *
 * Not thread-safe. The definitions and the aggregate must outlive it.
 */
#ifndef SG_REPORT_ARCHIVE_EVENTS_H
#define SG_REPORT_ARCHIVE_EVENTS_H

#include "core/status.h"
#include "report/aggregate.h"
#include "report/archive_definitions.h"
#include "report/archive_waits.h"
#include "report/window.h"

struct sg_archive_events;

/* Adds the archive's communicators to the aggregate. waits: what is told of all calls of MPI, and
 * outlives the events; NULL: nothing is. */
enum sg_status sg_archive_events_create(const struct sg_archive_defs *defs,
                                        struct sg_aggregate *aggregate,
                                        struct sg_archive_waits *waits,
                                        struct sg_archive_events **out);
void sg_archive_events_destroy(struct sg_archive_events *events);

/* For OTF2, with the events as user data; free with OTF2_GlobalEvtReaderCallbacks_Delete. */
OTF2_GlobalEvtReaderCallbacks *sg_archive_events_callbacks(void);

/* The first error in a callback; it stops the reading. */
enum sg_status sg_archive_events_status(const struct sg_archive_events *events);

/* After the last event: drops incomplete calls and reports the ranks' run times. */
struct sg_window_counts sg_archive_events_finish(struct sg_archive_events *events);

#endif
