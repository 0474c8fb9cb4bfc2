/* Source: an OTF2 archive, written by stagger or by another tool (Score-P).
 *
 * Events come in time order over all locations, with clock offsets applied. Several processes share
 * the reading of locations (archive_reading.h); process 0 does all else. Calls are matched by
 * communicator and the `seq` attribute. Without the attribute they are matched by the order of a
 * rank's calls on the communicator, which MPI requires to be the same on all ranks.
 */
#ifndef SG_REPORT_SOURCE_OTF2_H
#define SG_REPORT_SOURCE_OTF2_H

#include "core/status.h"
#include "output/progress_line.h"
#include "report/aggregate.h"

/* Fills in the contents of the archive, including an aggregate that the report then owns
 * (report->strings). The caller clears the report, also on failure. A failure is logged in one line
 * and returns SG_ERR_FORMAT (no archive, damaged, or refused by OTF2), SG_ERR_MISSING (no events,
 * no ranks), SG_ERR_MEMORY, or the watch's own status (watch may be NULL). */
enum sg_status sg_source_otf2(const char *anchor, struct sg_progress_line *progress,
                              const struct sg_watch *watch, struct sg_report *report);

/* In other processes than 0: reads the locations that process 0 leaves to this one, or none, and
 * leaves MPI. Prints nothing; process 0 logs the failures. */
void sg_source_otf2_serve(void);

#endif
