/* Writes the properties of the whole run to the archive's anchor file: program, machine, dropped
 * events, overhead, calibration, wait statistics and causes. Counters are sums over all ranks; a
 * property without data is omitted. */
#ifndef SG_TRACE_PROPERTIES_H
#define SG_TRACE_PROPERTIES_H

#include "trace/export/archive.h"
#include "trace/export/unify.h"

/* Call on rank 0 only, while the archive is open. It notes failures in the archive. */
void sg_properties_set(struct sg_archive *archive, const struct sg_unified *unified,
                       const char *machine);

#endif
