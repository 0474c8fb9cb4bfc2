/* What ranks did before calls: the intervals between calls of MPI that were sampled, from one call
 * site to another, as the logs sum them up, with events and without.
 *
 * A rank's mean is compared with that of the other ranks' intervals between the same two places.
 * The sums tell what it does longer, but not whether others wait for it: that needs events
 * (causes/causes.h), which also tell causes on other ranks.
 */
#ifndef SG_REPORT_BETWEEN_CALLS_TABLES_H
#define SG_REPORT_BETWEEN_CALLS_TABLES_H

#include "report/cause_table.h"
#include "trace/figure.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_before_figures {
    uint64_t intervals, time_ns;
    uint64_t of[SG_FIGURE_COUNT];
    uint32_t mask; /* a bit a figure that is known */
};

/* A rank's intervals between two places. */
struct sg_before_row {
    /* Function NULL: not known, as of MPI_Init and MPI_Finalize. */
    const struct sg_waitstate_place *after, *until;
    uint32_t rank;
    struct sg_before_figures own, others; /* others: the sum over the other ranks */
    double mean_ns, others_ns;            /* of an interval; NAN: no other rank has one */
    double longer_ns;                     /* than the others' mean, over all its intervals; or 0 */
    /* What most of that is spent with, where the mean is a tenth and 5 us longer, or more. */
    bool has_cause;
    enum sg_cause cause;
};

struct sg_before {
    struct sg_before_row *rows; /* the longest beyond the others first */
    uint32_t row_count;
    struct sg_waitstate_place *places; /* the rows' */
    uint64_t intervals, time_ns;
    uint32_t mask; /* a bit a figure that some row has */
};

/* Off a processor and not runnable: asleep, or for I/O. Where cpu and runnable time are known. */
static inline uint64_t sg_before_off_ns(const struct sg_before_figures *figures)
{
    uint64_t on_ns = figures->of[SG_FIGURE_CPU] + figures->of[SG_FIGURE_RUNNABLE];

    return figures->time_ns > on_ns ? figures->time_ns - on_ns : 0;
}

void sg_before_free(struct sg_before *before);

#endif
