/* Source: an OTF2 archive, written by stagger or by another tool (Score-P).
 *
 * OTF2's global reader delivers events in time order over all locations, with clock offsets
 * applied. Calls are matched by communicator and the `seq` attribute. Without the attribute they
 * are matched by the order of a rank's calls on the communicator, which MPI requires to be the same
 * on all ranks.
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

#endif
