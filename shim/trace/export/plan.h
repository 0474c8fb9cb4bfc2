/* What a rank must know to write its events: the numbers that call sites, communicators and texts
 * have in the archive, and which collective instances are in it. Rank 0 makes it from all ranks'
 * summaries (unify.h) and sends it to every rank.
 */
#ifndef SG_TRACE_PLAN_H
#define SG_TRACE_PLAN_H

#include "core/executed.h"
#include "trace/export/intervals.h"
#include "trace/export/pack.h"
#include "trace/export/plan_windows.h"
#include "trace/export/summary.h"

#include <stdbool.h>
#include <stdint.h>

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

#endif
