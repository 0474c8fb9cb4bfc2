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

#endif
