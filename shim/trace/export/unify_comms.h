/* Communicators of all ranks, each once: its members, and the instances that every member recorded.
 * A communicator whose members are not all known (their logs are lost) has no complete instance and
 * is left out; one that lacks a member's log stays, without instances.
 */
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
    uint32_t parent; /* ref or SG_NO_COMM; less than the own ref */
    uint32_t size;
    uint32_t remote_size; /* of an intercommunicator's second group; else 0 */
    uint32_t *members;    /* world ranks, of both groups */
    /* Of a Cartesian topology: sizes of the dimensions, then whether they are periodic. */
    const uint32_t *grid; /* of a summary */
    uint32_t dimensions;  /* 0: there is none */
};

struct sg_unified_comms {
    struct sg_comm_definition *definitions; /* by ref less 2 */
    uint32_t count;
    uint64_t calls;   /* of kept instances, over all ranks */
    uint64_t dropped; /* of others */
};

/* Fills in the plan's part of them, too. */
enum sg_status sg_unify_comms(const struct sg_summary *summaries, int summary_count,
                              struct sg_strings *strings, struct sg_plan *plan,
                              struct sg_unified_comms *out);
void sg_unified_comms_clear(struct sg_unified_comms *comms);

/* One communicator as several ranks know it: their views of it put together. */

/* One rank's knowledge of one communicator. */
struct sg_comm_view {
    const struct sg_summary *summary;
    const struct sg_comm_entry *comm;
};

/* All views of one communicator, views[0..count), by rank in it. */
struct sg_gathering {
    const struct sg_comm_view *views;
    uint32_t count;
    uint32_t *members; /* malloc'ed; NULL: not all known */
    bool complete;     /* every member's view is here */
    /* Of an intercommunicator: how many of them are in the first group, and in the second. */
    uint32_t sizes[2];
};

/* The member list: rank 0's where its log is there, else put together from the views. Found only
 * if all views agree with it. */
enum sg_status sg_gathering_find_members(struct sg_gathering *gathering);
/* Those of both groups of an intercommunicator, the group with the lower first rank first. A rank 0
 * of one of them must have told. In unify_groups.c. */
enum sg_status sg_gathering_find_groups(struct sg_gathering *gathering);
/* Leaves in kept what all views recorded, and adds to *lost how many others are not kept. kept is
 * empty at first, and stays so if the views are not complete. */
enum sg_status sg_views_keep(const struct sg_comm_view *views, uint32_t count, bool complete,
                             struct sg_intervals *kept, uint64_t *lost);

#endif
