/* Finds why ranks come late (causes.h), while events are read: is told of the intervals that were
 * sampled and of complete collectives, and looks back along the calls and waits of the history.
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

/* Ranks, and what clocks are off by at most, by location. What is given outlives the finder. */
enum sg_status sg_cause_finder_create(struct sg_history *history, struct sg_places *places,
                                      const uint32_t *ranks, const uint64_t *clock_errors_ns,
                                      uint32_t locations, struct sg_cause_finder **out);
void sg_cause_finder_destroy(struct sg_cause_finder *finder);
enum sg_status sg_cause_finder_interval(struct sg_cause_finder *finder, uint32_t location,
                                        const struct sg_sampled_interval *interval);
/* The location's last interval, for figures that come after it; NULL: there is none. */
struct sg_sampled_interval *sg_cause_finder_last(struct sg_cause_finder *finder, uint32_t location);

/* A member of a collective, and when it came. */
struct sg_cause_member {
    struct sg_waitstate_end who;
    int64_t came_ns;
};

/* Who waits in a collective, and for whom. */
enum sg_cause_waiting {
    SG_CAUSE_ALL_WAIT,      /* for the last of all */
    SG_CAUSE_WAIT_FOR_ROOT, /* all others: a broadcast */
    SG_CAUSE_ROOT_WAITS,    /* for the last of the others: a reduction */
};

struct sg_cause_instance {
    uint32_t comm; /* a small number */
    enum sg_cause_waiting waiting;
    uint32_t root; /* of the members, where one matters; `size` or more: it is not known */
    uint32_t size;
    bool is_contradicted; /* by clocks: a member left before another came that it waited for */
    const struct sg_cause_member *members;
};

/* An instance whose members have all come, in the order of the instances on its communicator. */
enum sg_status sg_cause_finder_instance(struct sg_cause_finder *finder,
                                        const struct sg_cause_instance *instance);
/* *out is NULL where no interval was sampled. */
enum sg_status sg_cause_finder_finish(struct sg_cause_finder *finder, struct sg_causes_found **out);

#endif
