/* All ranks' summaries merged into one: every call site, communicator and text once, with its
 * number in the archive, and the collective instances that all of their members recorded. On rank
 * 0.
 */
#ifndef SG_TRACE_UNIFY_H
#define SG_TRACE_UNIFY_H

#include "core/status.h"
#include "trace/export/plan.h"
#include "trace/export/strings.h"
#include "trace/export/summary.h"
#include "trace/export/unify_comms.h"
#include "trace/export/unify_windows.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_site_definition {
    uint32_t id;
    uint32_t file; /* string; 0: not known */
    uint32_t line;
};

struct sg_unified {
    struct sg_summary *summaries; /* malloc'ed; by rank */
    int summary_count;
    int world_size;
    int *by_rank; /* [world_size]: index into summaries, -1: no log */
    struct sg_strings strings;
    struct sg_site_definition *sites;
    uint32_t site_count;
    uint32_t *frames; /* strings: functions of paths, each a region, behind MPI's functions */
    uint32_t frame_count;
    struct sg_unified_comms comms;
    struct sg_unified_windows windows;
    const char **functions; /* names of MPI's, from SG_REGION_REF_FUNCTIONS */
    uint32_t function_count;
    uint32_t trial_block; /* 0: no rank told of a trial */
    uint64_t dropped;     /* not in the archive, of those that were or should have been recorded */
    bool partial;
};

/* unified: with summaries, their count, world_size, and partial where it is said to be so whatever
 * the logs say. Clear both whatever it returns. */
enum sg_status sg_unify(struct sg_unified *unified, const char *const *algorithms,
                        int algorithm_count, struct sg_plan *plan);
void sg_unified_clear(struct sg_unified *unified);

/* Calls that are in no collective of the library's. */
uint64_t sg_unified_events(const struct sg_unified *unified);

/* A rank's summary; NULL: there is no log of it. */
const struct sg_summary *sg_unified_summary(const struct sg_unified *unified, uint32_t rank);

#endif
