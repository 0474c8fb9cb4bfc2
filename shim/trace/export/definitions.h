/* The archive's definitions: each location's clock, and rank 0's global tables and markers. */
#ifndef SG_TRACE_DEFINITIONS_H
#define SG_TRACE_DEFINITIONS_H

#include "trace/export/archive.h"
#include "trace/export/events.h"
#include "trace/export/plan.h"

struct sg_location_record { /* a location as rank 0 hears of it; times are global */
    uint64_t id;
    uint64_t events;
    uint64_t first_ns, last_ns;
};

/* Local definitions of a location; summary is its rank's, NULL for a rank without a log. Two clock
 * offsets at least, as readers expect. In definitions_local.c. */
void sg_definitions_write_local(struct sg_archive *archive, const struct sg_summary *summary,
                                const struct sg_location *location);

/* Rank 0 only. */
void sg_definitions_write_global(struct sg_archive *archive, struct sg_unified *unified,
                                 const struct sg_location_record *locations, size_t count);

/* In markers.c. */
void sg_markers_write(struct sg_archive *archive, const struct sg_unified *unified,
                      uint64_t begin_ns, uint64_t end_ns);

/* A rank's local time on rank 0's clock. */
uint64_t sg_summary_global_ns(const struct sg_summary *summary, uint64_t local_ns);

#endif
