/* Merges the communicators of all ranks: each occurs once, with its members and the instances
 * that every member recorded. If some members are not known (their logs are lost), the
 * communicator is left out. If all members are known but the log of one is missing, it stays,
 * without instances. */
#ifndef SG_TRACE_EXPORT_UNIFY_COMMS_H
#define SG_TRACE_EXPORT_UNIFY_COMMS_H

#include "core/status.h"
#include "trace/export/export_plan.h"
#include "trace/export/strings.h"
#include "trace/export/summary.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_comm_definition {
    uint32_t name;   /* string */
    uint32_t parent; /* a lower ref, or SG_NO_COMM */
    uint32_t size;
    uint32_t remote_size; /* size of an intercommunicator's second group; else 0 */
    uint32_t *members;    /* world ranks of both groups; malloc'ed */
    /* Cartesian topology: the sizes of its dimensions, then their periodicity (0 or 1). */
    const uint32_t *grid; /* owned by a summary */
    uint32_t dimensions;  /* 0: no topology */
};

struct sg_unified_comms {
    struct sg_comm_definition *definitions; /* by ref - 2 */
    uint32_t count;
    uint64_t calls;   /* calls of kept instances, over all ranks */
    uint64_t dropped; /* calls and messages that are not in the archive */
};

/* Fills in *out and the communicators of the plan. */
enum sg_status sg_unify_comms(const struct sg_summary *summaries, int summary_count,
                              struct sg_strings *strings, struct sg_plan *plan,
                              struct sg_unified_comms *out);
void sg_unified_comms_clear(struct sg_unified_comms *comms);

/* ---- views of one communicator, from several ranks ------------------------------------------ */

/* A communicator as one rank recorded it. */
struct sg_comm_view {
    const struct sg_summary *summary;
    const struct sg_comm_entry *comm;
};

/* All views of one communicator, views[0..count), by rank in the communicator. */
struct sg_gathering {
    const struct sg_comm_view *views;
    uint32_t count;
    uint32_t *members; /* malloc'ed; NULL: not all known */
    bool complete;     /* every member has a view */
    /* Intercommunicator: the sizes of its first and second group. */
    uint32_t sizes[2];
};

/* Finds the members: rank 0's list if its log is there, otherwise derived from the views.
 * members remains NULL unless all views agree with the list. */
enum sg_status sg_gathering_find_members(struct sg_gathering *gathering);
/* Sets kept to the instances that all views recorded, and adds the number of other recorded
 * calls to *lost. kept must be empty, and stays so unless complete is true. */
enum sg_status sg_views_keep(const struct sg_comm_view *views, uint32_t count, bool complete,
                             struct sg_intervals *kept, uint64_t *lost);

#endif
