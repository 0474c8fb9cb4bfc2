/* What a rank must know to write its events: the numbers that call sites, communicators and texts
 * have in the archive, and which collective instances are in it. Rank 0 makes it from all ranks'
 * summaries (unify.h) and sends it to every rank.
 */
#ifndef SG_TRACE_EXPORT_EXPORT_PLAN_H
#define SG_TRACE_EXPORT_EXPORT_PLAN_H

#include "core/executed.h"
#include "core/status.h"
#include "trace/export/logread.h"
#include "trace/export/logread_all.h"
#include "trace/export/strings.h"
#include "trace/export/summary.h"
#include "trace/export/summary_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The part of a plan (plan.h) that is about windows and the groups that they are synchronised with:
 * their numbers in the archive. */

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

#define SG_NO_COMM UINT32_MAX

struct sg_plan_site {
    uint32_t id;
    uint32_t text;                     /* string */
    uint32_t first_frame, frame_count; /* of its path, outermost first; 0: it is no path */
};

struct sg_plan_comm {
    uint32_t root_world_rank, root_counter; /* who it is */
    uint32_t ref;                           /* SG_NO_COMM: not in the archive */
    struct sg_intervals kept;               /* instances recorded by all members */
};

/* A communicator as the events of all calls know it. */
struct sg_plan_profile_comm {
    uint64_t identity;
    uint32_t ordinal;
    uint32_t ref; /* as above */
    struct sg_intervals kept;
};

struct sg_plan_function {
    uint64_t name_hash;
    uint32_t region;
};

struct sg_plan_arm {
    uint32_t place, text; /* strings; 0: no rank told of it */
};

struct sg_plan {
    struct sg_plan_site *sites; /* by id */
    uint32_t site_count;
    uint32_t *frames; /* regions, of the paths of sites */
    uint32_t frame_count;
    struct sg_plan_comm *comms; /* by identity; without MPI_COMM_WORLD and MPI_COMM_SELF */
    uint32_t comm_count;
    struct sg_intervals world_kept;
    struct sg_plan_profile_comm *profile_comms; /* by identity and ordinal */
    uint32_t profile_comm_count;
    struct sg_plan_function *functions; /* by name_hash; of the events of all calls */
    uint32_t function_count;
    struct sg_plan_windows windows;
    uint32_t *algorithms; /* strings, by index */
    uint32_t algorithm_count;
    struct sg_plan_arm arms[SG_EXECUTED_LIMIT]; /* of trials, by number */
};

void sg_plan_pack(struct sg_pack *pack, struct sg_plan *plan);
void sg_plan_clear(struct sg_plan *plan);
/* A call site; the unknown one when there is no such id. NULL: the plan has not even that. */
const struct sg_plan_site *sg_plan_find_site(const struct sg_plan *plan, uint32_t id);
/* comm is of the rank's summary. NULL when no rank told of it, and for MPI_COMM_WORLD and
 * MPI_COMM_SELF. */
const struct sg_plan_comm *sg_plan_find_comm(const struct sg_plan *plan,
                                             const struct sg_comm_entry *comm);
/* Its number in the archive, or SG_NO_COMM. */
uint32_t sg_plan_comm_ref(const struct sg_plan *plan, const struct sg_comm_entry *comm);
/* Whether the archive has that instance of it. */
bool sg_plan_keeps(const struct sg_plan *plan, const struct sg_comm_entry *comm, uint32_t seq);
/* Likewise of a communicator of the events of all calls; NULL: no event uses it. */
const struct sg_plan_profile_comm *
sg_plan_find_profile_comm(const struct sg_plan *plan, const struct sg_profile_comm_entry *comm);
/* The region of a function of MPI; false: no event is of it. */
bool sg_plan_find_region(const struct sg_plan *plan, const char *name, uint32_t *region);
/* To sort and search the tables. */
uint64_t sg_plan_name_hash(const char *name);
int sg_plan_by_name_hash(const void *a, const void *b);

/* The order of a log's events: by thread, then by time; an enclosing event before the enclosed one,
 * a start before its completion. */

/* Slots that stand for the regions the log's header tells of. */
#define SG_SLOT_INIT (UINT32_MAX - 1)
#define SG_SLOT_FINALIZE UINT32_MAX

enum sg_order_what {                    /* in this order where times are equal */
                     SG_ORDER_INTERVAL, /* the end of an interval between calls: a moment */
                     SG_ORDER_CALL,     /* an MPI call: lies in no other region */
                     SG_ORDER_COMPLETE, /* of a nonblocking call: a moment, wherever it falls */
                     SG_ORDER_REQUEST,  /* what happens to a request: likewise */
                     SG_ORDER_SLICE,    /* the end of a slice: likewise */
                     SG_ORDER_LATE,     /* a late contribution: may lie inside another region */
};

struct
    sg_order_entry { /* small: there is one for each record, of a completed nonblocking call two */
    uint64_t begin_ns;
    uint32_t slot; /* of the record, or SG_SLOT_... */
    uint16_t thread;
    uint8_t what; /* enum sg_order_what */
};

/* All calls, nonblocking calls, late contributions, intervals between calls, slices and header
 * regions that are sound; collectives that failed are not events. malloc'ed. */
enum sg_status sg_order_make(struct sg_logread *log, struct sg_order_entry **out, size_t *count);

#endif
