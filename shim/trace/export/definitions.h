/* Writes the archive's definitions: each location's clock, rank 0's global tables, and markers. */
#ifndef SG_TRACE_EXPORT_DEFINITIONS_H
#define SG_TRACE_EXPORT_DEFINITIONS_H

#include "trace/export/archive.h"
#include "trace/export/event_writer.h"
#include "trace/export/unify.h"

/* Writes a location's local definitions: its clock offsets, at least two, as readers expect.
 * summary: its rank's; NULL for a rank without a log. */
void sg_definitions_write_local(struct sg_archive *archive, const struct sg_summary *summary,
                                const struct sg_location *location);
/* Rank 0 only. locations: of all ranks, by rank, then thread, with times on rank 0's clock. */
void sg_definitions_write_global(struct sg_archive *archive, struct sg_unified *unified,
                                 const struct sg_location *locations, size_t count);
/* Rank 0 only; in markers.c. */
void sg_markers_write(struct sg_archive *archive, const struct sg_unified *unified,
                      uint64_t begin_ns, uint64_t end_ns);

/* Writes the properties of the whole run to the archive's anchor file: program, machine, dropped
 * events, overhead, calibration, wait statistics and causes. Counters are sums over all ranks; a
 * property without data is omitted. Rank 0 only, while the archive is open; notes failures in the
 * archive. In properties.c. */
void sg_properties_set(struct sg_archive *archive, const struct sg_unified *unified,
                       const char *machine, uint64_t begin_ns);

#endif
