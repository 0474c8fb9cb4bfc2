/* The export's plan, and the order of a log's events.
 *
 * The plan holds all that a rank must know to write its events: the archive's numbers for call
 * sites, communicators, windows, functions and texts, and the collective instances that are in the
 * archive. Rank 0 makes it from all ranks' summaries (unify.h) and sends it to every rank.
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

/* ---- windows and the groups that synchronise them -------------------------------------------- */

struct sg_plan_window {
    uint64_t identity; /* its communicator's */
    uint32_t comm_ordinal;
    uint32_t ordinal;         /* among its communicator's windows */
    uint32_t ref;             /* the archive's number; SG_NO_WINDOW: not there */
    bool has_life;            /* all members recorded its creation */
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

/* For sorting and searching the tables. */
int sg_plan_windows_compare(const void *a, const void *b);
int sg_plan_groups_compare(const void *a, const void *b);
uint64_t sg_plan_group_hash(const uint32_t *members, uint32_t size);
/* NULL: the archive has no such window. */
const struct sg_plan_window *sg_plan_find_window(const struct sg_plan_windows *windows,
                                                 const struct sg_plan_window *key);
/* False: the archive has no such group. */
bool sg_plan_find_group(const struct sg_plan_windows *windows, const struct sg_group_entry *group,
                        uint32_t *ref);

#define SG_NO_COMM UINT32_MAX

struct sg_plan_site {
    uint32_t id;
    uint32_t text;                     /* string */
    uint32_t first_frame, frame_count; /* of its path, outermost first; 0: no path */
};

struct sg_plan_comm {
    uint32_t root_world_rank, root_counter; /* its identity */
    uint32_t ref;                           /* SG_NO_COMM: not in the archive */
    struct sg_intervals kept;               /* instances recorded by all members */
};

/* A communicator in the numbering of all calls' events. */
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
    uint32_t place, text; /* strings; 0: no rank reported it */
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
    struct sg_plan_function *functions; /* by name_hash; those with events */
    uint32_t function_count;
    struct sg_plan_windows windows;
    uint32_t *algorithms; /* strings, by index */
    uint32_t algorithm_count;
    struct sg_plan_arm arms[SG_EXECUTED_LIMIT]; /* candidates of trials, by number */
    uint64_t definition_chunk_bytes;            /* OTF2's; holds the largest definition */
};

void sg_plan_pack(struct sg_pack *pack, struct sg_plan *plan);
void sg_plan_clear(struct sg_plan *plan);
/* Finds a call site, or the unknown site if the plan has no such id. NULL: it has neither. */
const struct sg_plan_site *sg_plan_find_site(const struct sg_plan *plan, uint32_t id);
/* Finds a communicator of the rank's summary. NULL if no rank reported it, and for MPI_COMM_WORLD
 * and MPI_COMM_SELF. */
const struct sg_plan_comm *sg_plan_find_comm(const struct sg_plan *plan,
                                             const struct sg_comm_entry *comm);
/* Returns its number in the archive, or SG_NO_COMM. */
uint32_t sg_plan_comm_ref(const struct sg_plan *plan, const struct sg_comm_entry *comm);
/* True if the archive has the communicator's instance `seq`. */
bool sg_plan_keeps(const struct sg_plan *plan, const struct sg_comm_entry *comm, uint32_t seq);
/* Finds a communicator of all calls' events. NULL: no event uses it. */
const struct sg_plan_profile_comm *
sg_plan_find_profile_comm(const struct sg_plan *plan, const struct sg_profile_comm_entry *comm);
/* Finds the region of an MPI function. False: it has no events. */
bool sg_plan_find_region(const struct sg_plan *plan, const char *name, uint32_t *region);
/* For sorting and searching the tables. */
uint64_t sg_plan_name_hash(const char *name);
int sg_plan_by_name_hash(const void *a, const void *b);

/* ---- order of a log's events ----------------------------------------------------------------- */

/* Entries are sorted by thread, then by time. An enclosing event precedes the events that it
 * encloses, and a start its completion. */

/* Slots of the regions in the log's header. */
#define SG_SLOT_INIT (UINT32_MAX - 1)
#define SG_SLOT_FINALIZE UINT32_MAX

enum sg_order_what {                    /* in this order if times are equal */
                     SG_ORDER_INTERVAL, /* the end of an interval between calls: a moment */
                     SG_ORDER_CALL,     /* an MPI call: nested in no other region */
                     SG_ORDER_COMPLETE, /* a nonblocking call's completion: a moment anywhere */
                     SG_ORDER_REQUEST,  /* an event of a request: likewise */
                     SG_ORDER_SLICE,    /* the end of a slice: likewise */
                     SG_ORDER_LATE,     /* a late contribution: may be nested in another region */
};

struct sg_order_entry { /* small: one per record, two if nonblocking and complete */
    uint64_t begin_ns;
    uint32_t slot; /* the record's, or SG_SLOT_... */
    uint16_t thread;
    uint8_t what; /* enum sg_order_what */
    uint8_t part; /* of a request that the record completes: 1 + its index; else 0 */
};

/* Lists all sound calls, completions, requests, late contributions, intervals between calls, slices
 * and header regions, in order; malloc'ed. Failed collectives are not events. */
enum sg_status sg_order_make(struct sg_logread *log, struct sg_order_entry **out, size_t *count);

#endif
