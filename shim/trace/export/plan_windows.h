/* The part of a plan (plan.h) that is about windows and the groups that they are synchronised with:
 * their numbers in the archive. */
#ifndef SG_TRACE_PLAN_WINDOWS_H
#define SG_TRACE_PLAN_WINDOWS_H

#include "trace/export/intervals.h"
#include "trace/export/pack.h"
#include "trace/export/summary_windows.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_plan_window {
    uint64_t identity; /* of its communicator */
    uint32_t comm_ordinal;
    uint32_t ordinal;         /* among its communicator's windows */
    uint32_t ref;             /* in the archive; SG_NO_WINDOW: not there */
    bool has_life;            /* its making is told of */
    struct sg_intervals kept; /* collectives on it, recorded by all members */
};
#define SG_NO_WINDOW UINT32_MAX

struct sg_plan_group {
    uint64_t hash; /* of its members */
    uint32_t size;
    uint32_t ref;
};

struct sg_plan_windows {
    struct sg_plan_window *windows; /* by identity, comm_ordinal and ordinal */
    struct sg_plan_group *groups;   /* by hash and size */
    uint32_t window_count, group_count;
};

/* To sort and search the tables. */
int sg_plan_windows_compare(const void *a, const void *b);
int sg_plan_groups_compare(const void *a, const void *b);
uint64_t sg_plan_group_hash(const uint32_t *members, uint32_t size);

/* NULL: not in the archive. */
const struct sg_plan_window *sg_plan_find_window(const struct sg_plan_windows *windows,
                                                 const struct sg_plan_window *key);
/* False: likewise. */
bool sg_plan_find_group(const struct sg_plan_windows *windows, const struct sg_group_entry *group,
                        uint32_t *ref);

void sg_plan_windows_pack(struct sg_pack *pack, struct sg_plan_windows *windows);
void sg_plan_windows_clear(struct sg_plan_windows *windows);

#endif
