/* All ranks' summaries merged into one: every call site, communicator and text once, with its
 * number in the archive, and the collective instances that all of their members recorded. On rank
 * 0.
 */
#ifndef SG_TRACE_EXPORT_UNIFY_H
#define SG_TRACE_EXPORT_UNIFY_H

#include "core/status.h"
#include "trace/export/export_plan.h"
#include "trace/export/strings.h"
#include "trace/export/summary.h"
#include "trace/export/symbols.h"
#include "trace/export/unify_comms.h"

#include <stdbool.h>
#include <stdint.h>

/* Windows of all ranks, each once: a window is known by its communicator and its place among the
 * windows of that. Those whose communicator the archive does not have are left out, and what tells
 * of them is counted. So are groups of ranks that windows are synchronised with, by their members.
 */

struct sg_unified_windows {
    struct sg_window_definition {
        uint32_t name; /* string */
        uint32_t comm; /* ref */
        bool has_life; /* its making, and its end if it came, are told of */
    } * windows;       /* by ref */
    struct sg_group_definition {
        const uint32_t *members; /* world ranks, the summaries' */
        uint32_t size;
    } * groups; /* by ref, from SG_GROUP_REF_OTHERS */
    uint32_t window_count, group_count;
    uint64_t dropped; /* events that the archive does not have */
};

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

/* Call sites of all ranks, each once: names from the logs where a rank found them during the run,
 * from the modules' debug information otherwise.
 */

struct sg_site_names {
    const struct sg_site_entry *site;
    const char *function, *file; /* NULL: not known; they live as long as symbols and summaries */
    uint32_t line;
    bool recorded; /* a log tells the names */
};

/* By id; *out is malloc'ed. */
enum sg_status sg_site_names_find(const struct sg_summary *summaries, int count,
                                  struct sg_symbols *symbols, struct sg_site_names **out,
                                  uint32_t *out_count);

#endif
