/* Finds why ranks come late (cause_table.h) while events are read: receives the intervals that were
 * sampled and the complete collectives, and looks back along the calls and waits of the history.
 *
 * Functions that return a status: SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_CAUSE_FINDER_H
#define SG_REPORT_CAUSE_FINDER_H

#include "report/cause_intervals.h"
#include "report/cause_table.h"
#include "report/wait_sums.h"

struct sg_cause_finder;

struct sg_history;

/* ranks, and the bounds on clock errors, are by location. All arguments must outlive the finder. */
enum sg_status sg_cause_finder_create(struct sg_history *history, struct sg_places *places,
                                      const uint32_t *ranks, const uint64_t *clock_errors_ns,
                                      uint32_t locations, struct sg_cause_finder **out);
void sg_cause_finder_destroy(struct sg_cause_finder *finder);
enum sg_status sg_cause_finder_interval(struct sg_cause_finder *finder, uint32_t location,
                                        const struct sg_sampled_interval *interval);
/* Returns the location's last interval, to which later figures are added; NULL: there is none. */
struct sg_sampled_interval *sg_cause_finder_last(struct sg_cause_finder *finder, uint32_t location);

/* A member of a collective, and the time when it came. */
struct sg_cause_member {
    struct sg_waitstate_end who;
    int64_t came_ns;
};

/* Which members wait in a collective, and for whom. */
enum sg_cause_waiting {
    SG_CAUSE_ALL_WAIT,      /* all, for the last of them */
    SG_CAUSE_WAIT_FOR_ROOT, /* all others, for the root: a broadcast */
    SG_CAUSE_ROOT_WAITS,    /* the root, for the last of the others: a reduction */
};

struct sg_cause_instance {
    uint32_t comm; /* a small number: it indexes an array */
    enum sg_cause_waiting waiting;
    uint32_t root; /* member number, if there is a root; `size` or more: not known */
    uint32_t size;
    bool is_contradicted; /* by clocks: a member left before another came that it waited for */
    const struct sg_cause_member *members;
};

/* Adds an instance whose members have all come. Instances on a communicator come in their order. */
enum sg_status sg_cause_finder_instance(struct sg_cause_finder *finder,
                                        const struct sg_cause_instance *instance);
/* *out is NULL if no interval was sampled; free it with sg_causes_found_free(). */
enum sg_status sg_cause_finder_finish(struct sg_cause_finder *finder, struct sg_causes_found **out);

/* Finds what made an instance's last rank late (cause_table.h) from what is known of all its
 * members, and keeps the chains of the worst instances.
 *
 * Finding is pure, except that it reads the history's file. Not thread-safe.
 */

/* A member of an instance, with the times when it left the instance before and when it came to this
 * one. */
struct sg_blame_member {
    uint32_t location, rank;
    uint32_t place; /* call site (sg_places_find()) of the call to which it came */
    int64_t left_ns, came_ns;
};

/* Maximum number of links in a path, and of parts. */
#define SG_BLAME_STEPS 32
#define SG_BLAME_PARTS (SG_BLAME_STEPS * SG_CAUSES)

struct sg_blame_part {
    enum sg_cause cause; /* SG_CAUSE_COMPUTING for all time on a processor between calls */
    uint32_t rank, steps;
    double ns;
    /* Ends of its longest interval. For causes in calls, `until` is the longest call, which took
     * longest_ns. SG_NO_PLACE: none. */
    uint32_t after, until;
    double longest_ns;
    /* For SG_CAUSE_COMPUTING: the excess over the paths that this one is compared with. work_ns:
     * the time of additional instructions at the others' speed; NAN: not known. */
    double asides[SG_ASIDES], work_ns;
    bool has_usage;
    /* For SG_CAUSE_PREEMPTED and SG_CAUSE_CALLS_PREEMPTED, in the same scale as ns. */
    struct sg_stretch_threads threads;
};

/* One rank's part of the last rank's path. It ends when the rank came or was ready, and begins when
 * its wait for the next link's rank ended, or when the first member left the instance before. */
struct sg_blame_link {
    uint32_t location;
    uint32_t waited; /* call site of the wait for it; SG_NO_PLACE: it is the first link */
    int64_t from_ns, to_ns;
    double ns[SG_CAUSES];  /* as in parts */
    uint32_t after, until; /* ends of its longest interval; or SG_NO_PLACE */
};

struct sg_blame {
    struct sg_history *history;
    const struct sg_intervals_kept *intervals;
    const uint32_t *ranks; /* by location, as are the bounds on clock errors */
    const uint64_t *clock_errors_ns;
    /* The results. */
    double late_ns; /* sum of the parts */
    struct sg_blame_part parts[SG_BLAME_PARTS];
    uint32_t part_count;
    struct sg_blame_link links[SG_BLAME_STEPS]; /* the last rank's first */
    uint32_t link_count;
    uint32_t last, first; /* indices of members */
};

enum sg_blamed {
    SG_BLAMED,
    SG_BLAME_NOT_TOLD, /* not sampled, or later by no more than the clock errors */
    SG_BLAME_NOBODY,   /* all came at the same time */
};

/* Requires two members or more. SG_ERR_MEMORY only, not logged. */
enum sg_status sg_blame_instance(struct sg_blame *blame, const struct sg_blame_member *members,
                                 uint32_t count, enum sg_blamed *out);

/* The chains (cause_table.h) of the instances in which others waited longest: for each call site
 * the instance with the most lateness.
 *
 * Memory: SG_CAUSE_CHAINS chains. Functions that return a status: SG_ERR_MEMORY only, not logged.
 * Not thread-safe.
 */

struct sg_cause_chains;

enum sg_status sg_cause_chains_create(struct sg_cause_chains **out);
void sg_cause_chains_destroy(struct sg_cause_chains *chains);
/* Adds an instance. place: the call site of its last rank. blame: the result for these members. */
void sg_cause_chains_add(struct sg_cause_chains *chains, uint32_t place,
                         const struct sg_blame *blame, const struct sg_blame_member *members);
/* ranks: by location. The result has names that `places` owns, which must outlive it. */
enum sg_status sg_cause_chains_finish(const struct sg_cause_chains *chains,
                                      const struct sg_places *places, const uint32_t *ranks,
                                      struct sg_causes_found *out);

#endif
