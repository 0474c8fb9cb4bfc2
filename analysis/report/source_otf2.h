/* Source: an OTF2 archive, stagger's own or another tool's (Score-P).
 *
 * Events are read by OTF2's global reader, in time order over all locations with clock offsets
 * applied. Instances are matched by communicator and the `seq` attribute; where that is missing,
 * by the order of a rank's calls on the communicator, which MPI demands to be the same for all.
 */
#ifndef SG_REPORT_SOURCE_OTF2_H
#define SG_REPORT_SOURCE_OTF2_H

#include "core/status.h"
#include "output/progress.h"
#include "report/aggregate.h"

/* Fills what the archive tells of the run, and an aggregate that then lives in the report
 * (report->strings), which the caller clears, also on failure. Then one line has been logged:
 * SG_ERR_FORMAT (no archive, damaged, or OTF2 refuses it), SG_ERR_MISSING (no events, no ranks),
 * SG_ERR_MEMORY, or what the watch (NULL: nobody) returned. */
enum sg_status sg_source_otf2(const char *anchor, struct sg_progress_line *progress,
                              const struct sg_watch *watch, struct sg_report *report);

#endif
