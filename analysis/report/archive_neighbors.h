/* Neighborhood collectives in an archive, for which OTF2 has no events: to wait states. A blocking
 * one is told by attributes of its Enter, of others parameters tell the begin and the completion.
 *
 * Functions that return a status: SG_ERR_MEMORY, not logged, or that of a watcher. Not thread-safe.
 */
#ifndef SG_REPORT_ARCHIVE_NEIGHBORS_H
#define SG_REPORT_ARCHIVE_NEIGHBORS_H

#include "core/status.h"
#include "report/archive_defs.h"
#include "report/waitstates/tracker.h"

#include <otf2/otf2.h>

struct sg_archive_events;
struct sg_archive_neighbors;
struct sg_open_call;

/* Definitions and tracker outlive it. */
enum sg_status sg_archive_neighbors_create(const struct sg_archive_defs *defs,
                                           struct sg_waitstate_tracker *tracker,
                                           struct sg_archive_neighbors **out);
void sg_archive_neighbors_destroy(struct sg_archive_neighbors *neighbors);

/* At Enter of a call, in which the tracker already is. */
enum sg_status sg_archive_neighbors_enter(struct sg_archive_events *events,
                                          OTF2_AttributeList *attributes,
                                          const struct sg_open_call *open);

/* Theirs take struct sg_archive_events, whose neighbors may be NULL. */
void sg_archive_neighbor_callbacks(OTF2_GlobalEvtReaderCallbacks *callbacks);

#endif
