/* The numbers that the archive's definitions have, and which collective instances are in it.
 *
 * Rank 0 makes it from all ranks' summaries (struct sg_unified) and sends every rank the part that
 * it needs to write its events (struct sg_plan).
 */
#ifndef SG_TRACE_PLAN_H
#define SG_TRACE_PLAN_H

#include "core/operation.h"
#include "core/ran.h"
#include "core/status.h"
#include "trace/export/export.h"
#include "trace/export/strings.h"
#include "trace/export/summary.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_NO_COMM UINT32_MAX
#define SG_COMM_WORLD_REF 0u
#define SG_COMM_SELF_REF 1u

/* Numbers of the things that every archive has. */
enum sg_region_ref { /* the collectives' are their operation's number */
                     SG_REGION_POSTS = SG_OPERATION_COUNT, /* here the nonblocking ones begin */
                     SG_REGION_INIT = 2 * SG_OPERATION_COUNT,
                     SG_REGION_FINALIZE,
                     SG_REGION_LATE,
                     SG_REGION_COUNT
};
enum sg_attribute_ref {
    SG_ATTRIBUTE_SITE,
    SG_ATTRIBUTE_ALGORITHM,
    SG_ATTRIBUTE_SEQ,
    SG_ATTRIBUTE_BYTES,
    /* of calls in a trial */
    SG_ATTRIBUTE_TRIAL,
    SG_ATTRIBUTE_ARM,
    /* of posts and late contributions */
    SG_ATTRIBUTE_COMM,
    /* of late contributions only */
    SG_ATTRIBUTE_OPERATION,
    SG_ATTRIBUTE_CHILD,
    SG_ATTRIBUTE_AVOIDED,
    /* of completions only */
    SG_ATTRIBUTE_EXPOSED,
    SG_ATTRIBUTE_HIDDEN,
    SG_ATTRIBUTE_TESTS,
    SG_ATTRIBUTE_COUNT
};
#define SG_METRIC_COUNT 10

struct sg_plan_site {
    uint32_t id;
    uint32_t text; /* string */
};

struct sg_plan_comm {
    uint32_t root_world_rank, root_counter; /* who it is */
    uint32_t ref;                           /* SG_NO_COMM: not in the archive */
    struct sg_intervals kept;               /* instances recorded by all members */
};

struct sg_plan_arm {
    uint32_t place, text; /* strings; 0: no rank told of it */
};

struct sg_plan {
    struct sg_plan_site *sites; /* by id */
    uint32_t site_count;
    struct sg_plan_comm *comms; /* by identity; without MPI_COMM_WORLD and MPI_COMM_SELF */
    uint32_t comm_count;
    struct sg_intervals world_kept;
    uint32_t *algorithms; /* strings, by index */
    uint32_t algorithm_count;
    struct sg_plan_arm arms[SG_RAN_LIMIT]; /* of trials, by number */
};

void sg_plan_put(struct sg_bytes *bytes, const struct sg_plan *plan);
enum sg_status sg_plan_take(struct sg_cursor *cursor, struct sg_plan *out);
void sg_plan_clear(struct sg_plan *plan);

/* String of a call site's text; that of the unknown site when there is no such id. */
uint32_t sg_plan_site_text(const struct sg_plan *plan, uint32_t id);
/* NULL when no rank told of it. */
const struct sg_plan_comm *sg_plan_find_comm(const struct sg_plan *plan, uint32_t root_world_rank,
                                             uint32_t root_counter);

/* ---- rank 0 --------------------------------------------------------------------------------- */

struct sg_site_definition {
    uint32_t id;
    uint32_t file; /* string; 0: not known */
    uint32_t line;
};

struct sg_comm_definition {
    uint32_t name;   /* string */
    uint32_t parent; /* ref or SG_NO_COMM; less than the own ref */
    uint32_t size;
    uint32_t *members; /* world ranks */
};

struct sg_unified {
    struct sg_summary *summaries; /* by rank */
    int summary_count;
    int *by_rank; /* [world_size]: index into summaries, -1: no log */
    int world_size;
    struct sg_strings strings;
    struct sg_site_definition *sites;
    uint32_t site_count;
    struct sg_comm_definition *comms; /* by ref less 2 */
    uint32_t comm_count;
    uint32_t trial_block; /* 0: no rank told of a trial */
    uint64_t calls;       /* in the archive */
    uint64_t dropped;     /* not in it, of those that were or should have been recorded */
    bool partial;
};

/* Takes over the summaries, also on failure. */
enum sg_status sg_unify(const struct sg_export *input, struct sg_summary *summaries, int count,
                        struct sg_unified *unified, struct sg_plan *plan);
void sg_unified_clear(struct sg_unified *unified);

/* In unify_sites.c and unify_comms.c: parts of sg_unify. */
enum sg_status sg_unify_sites(struct sg_unified *unified, struct sg_plan *plan);
enum sg_status sg_unify_comms(struct sg_unified *unified, struct sg_plan *plan);

/* Every call site of the summaries once, by id, with its names where they can be found. */
struct sg_site_names {
    const struct sg_site_entry *site;
    const char *function, *file; /* NULL: not known */
    uint32_t line;
    bool recorded; /* a log tells the names */
};
enum sg_status sg_resolve_sites(const struct sg_summary *summaries, int count,
                                struct sg_symbols *symbols, struct sg_site_names **out,
                                uint32_t *out_count);

#endif
