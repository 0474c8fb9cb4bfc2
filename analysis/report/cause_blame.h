/* What made an instance's last rank late (causes.h), from what is known of all its members.
 *
 * Pure, but for the history's file. Not thread-safe.
 */
#ifndef SG_REPORT_CAUSE_BLAME_H
#define SG_REPORT_CAUSE_BLAME_H

#include "report/cause_intervals.h"
#include "report/cause_table.h"
#include "report/wait_sums.h"

/* A member of an instance, and when it left the instance before it and came to this one. */
struct sg_blame_member {
    uint32_t location, rank;
    uint32_t place; /* of the call to which it came */
    int64_t left_ns, came_ns;
};

/* Changes of rank that a path may have. */
#define SG_BLAME_STEPS 32
#define SG_BLAME_PARTS (SG_BLAME_STEPS * SG_CAUSES)

struct sg_blame_part {
    enum sg_cause cause; /* of time on a processor always SG_CAUSE_COMPUTING */
    uint32_t rank, steps;
    double ns;
    /* Of its longest interval, or, in calls, `until` of the longest, which took longest_ns; or
     * SG_NO_PLACE. */
    uint32_t after, until;
    double longest_ns;
    /* Of SG_CAUSE_COMPUTING: what the path has more than those that it is compared with. work_ns:
     * the time of additional instructions at the others' speed; NAN: not known. */
    double asides[SG_ASIDES], work_ns;
    bool has_usage;
    /* Of SG_CAUSE_PREEMPTED and SG_CAUSE_CALLS_PREEMPTED: in the same scale as ns. */
    struct sg_stretch_threads threads;
};

/* A rank's part of the last one's path, from when it was ready, or came, back to when it waited for
 * the next link's rank, or left the instance before. */
struct sg_blame_link {
    uint32_t location;
    uint32_t waited; /* place where the link before waited for it; SG_NO_PLACE: it is the first */
    int64_t from_ns, to_ns;
    double ns[SG_CAUSES];  /* as in parts */
    uint32_t after, until; /* of its longest interval; or SG_NO_PLACE */
};

struct sg_blame {
    struct sg_history *history;
    const struct sg_intervals_kept *intervals;
    const uint32_t *ranks; /* by location, as is what clocks are off by at most */
    const uint64_t *clock_errors_ns;
    /* The result. */
    double late_ns; /* the parts' sum */
    struct sg_blame_part parts[SG_BLAME_PARTS];
    uint32_t part_count;
    struct sg_blame_link links[SG_BLAME_STEPS]; /* the last one's first */
    uint32_t link_count;
    uint32_t last, first; /* members */
};

enum sg_blamed {
    SG_BLAMED,
    SG_BLAME_NOT_TOLD, /* not sampled, or later by no more than clocks may be off */
    SG_BLAME_NOBODY,   /* all came at once */
};

/* Two members or more. SG_ERR_MEMORY only, not logged. */
enum sg_status sg_blame_instance(struct sg_blame *blame, const struct sg_blame_member *members,
                                 uint32_t count, enum sg_blamed *out);

/* The chains (causes.h) of the instances in which others waited longest, of each site the latest.
 *
 * Memory: SG_CAUSE_CHAINS chains. Functions that return a status: SG_ERR_MEMORY only, not logged.
 * Not thread-safe.
 */

struct sg_cause_chains;

enum sg_status sg_cause_chains_create(struct sg_cause_chains **out);
void sg_cause_chains_destroy(struct sg_cause_chains *chains);
/* An instance at the place of its last rank, whose blame was found of these members. */
void sg_cause_chains_add(struct sg_cause_chains *chains, uint32_t place,
                         const struct sg_blame *blame, const struct sg_blame_member *members);
/* Ranks by location; names outlive the result. */
enum sg_status sg_cause_chains_finish(const struct sg_cause_chains *chains,
                                      const struct sg_places *places, const uint32_t *ranks,
                                      struct sg_causes_found *out);

#endif
