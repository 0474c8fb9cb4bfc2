/* One communicator as several ranks know it: their views of it put together. */
#ifndef SG_TRACE_UNIFY_VIEWS_H
#define SG_TRACE_UNIFY_VIEWS_H

#include "core/status.h"
#include "trace/export/summary.h"

#include <stdbool.h>
#include <stdint.h>

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
