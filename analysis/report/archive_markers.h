/* The markers of an archive, of which a report uses what `auto` has learned. */
#ifndef SG_REPORT_ARCHIVE_MARKERS_H
#define SG_REPORT_ARCHIVE_MARKERS_H

#include "report/learned/learned.h"

#include <otf2/otf2.h>

/* Most archives have none. What cannot be read is left out. SG_ERR_MEMORY, not logged, or SG_OK. */
enum sg_status sg_archive_markers_read(OTF2_Reader *reader, struct sg_learned *learned);

#endif
