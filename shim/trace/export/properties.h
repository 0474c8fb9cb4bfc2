/* Properties of the run as a whole, in the archive's anchor file: program, machine, what is left
 * out, overhead, calibration.
 */
#ifndef SG_TRACE_PROPERTIES_H
#define SG_TRACE_PROPERTIES_H

#include "trace/export/archive.h"
#include "trace/export/unify.h"

/* Rank 0 only, while the archive is open. Failures are noted in the archive. */
void sg_properties_set(struct sg_archive *archive, const struct sg_unified *unified,
                       const char *machine);

#endif
