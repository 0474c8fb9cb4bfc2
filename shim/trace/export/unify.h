/* Merges the summaries of all ranks, on rank 0: each call site, communicator, window, function
 * and text occurs once, with its number in the archive. Only collective instances that all
 * members recorded are kept. The result has two parts: definitions, which rank 0 writes (struct
 * sg_unified), and the plan that every rank needs to write its events (export_plan.h). */
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

/* Windows of all ranks, each once. Its communicator and its ordinal there identify a window. A
 * window whose communicator is not in the archive is left out, and its events are counted as
 * dropped. Groups of ranks that events name also occur once; their members identify them. */

struct sg_unified_windows {
    struct sg_window_definition {
        uint32_t name; /* string */
        uint32_t comm; /* ref */
        bool has_life; /* its creation, and its destruction if any, are events */
    } * windows;       /* by ref */
    struct sg_group_definition {
        const uint32_t *members; /* world ranks; owned by a summary */
        uint32_t size;
    } * groups; /* by ref, from SG_GROUP_REF_OTHERS */
    uint32_t window_count, group_count;
    uint64_t dropped; /* events that are not in the archive */
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
    uint32_t *frames; /* strings: functions of paths; regions after those of functions */
    uint32_t frame_count;
    struct sg_unified_comms comms;
    struct sg_unified_windows windows;
    const char **functions; /* names of MPI functions, from SG_REGION_REF_FUNCTIONS */
    uint32_t function_count;
    uint32_t trial_block; /* 0: no rank recorded a trial */
    uint64_t dropped;     /* events, recorded or due, that are not in the archive */
    bool partial;
};

/* Call with summaries, summary_count and world_size set; partial may be preset, and then stays
 * true. Clear both unified and plan, also on failure. */
enum sg_status sg_unify(struct sg_unified *unified, const char *const *algorithms,
                        int algorithm_count, struct sg_plan *plan);
void sg_unified_clear(struct sg_unified *unified);
/* Returns the number of sound event records of calls, over all ranks. */
uint64_t sg_unified_events(const struct sg_unified *unified);
/* Returns a rank's summary; NULL: its log is missing. */
const struct sg_summary *sg_unified_summary(const struct sg_unified *unified, uint32_t rank);

/* Names of the call sites of all ranks, each site once. If a rank resolved the names during the
 * run, they come from its log, otherwise from the modules' debug information. */

struct sg_site_names {
    const struct sg_site_entry *site;
    const char *function, *file; /* NULL: not known; owned by symbols or summaries */
    uint32_t line;
    bool recorded; /* the names come from a log */
};

/* Finds the names, sorted by id; *out is malloc'ed. */
enum sg_status sg_site_names_find(const struct sg_summary *summaries, int count,
                                  struct sg_symbols *symbols, struct sg_site_names **out,
                                  uint32_t *out_count);

/* Fills in the plan's functions. *names: functions that get a region of their own, in order of
 * ref from SG_REGION_REF_FUNCTIONS; malloc'ed, the summaries own the texts. */
enum sg_status sg_unify_functions(const struct sg_summary *summaries, int summary_count,
                                  struct sg_plan *plan, const char ***names, uint32_t *name_count);
/* Call after sg_unify_comms: adds to its communicators. */
enum sg_status sg_unify_profile_comms(const struct sg_summary *summaries, int summary_count,
                                      struct sg_strings *strings, struct sg_plan *plan,
                                      struct sg_unified_comms *out);

#endif
