/* The intervals between calls of MPI that were sampled, from one call site to another, as the logs
 * sum them up, with events and without.
 *
 * A rank's mean is compared with that of the other ranks' intervals between the same two call
 * sites. The sums show what the rank spends more time on, but not if others wait for it: that needs
 * events (cause_table.h), which also show causes on other ranks.
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
    uint32_t mask; /* a bit for each figure that is known */
};

/* A rank's intervals between two call sites. */
struct sg_before_row {
    /* A NULL function is not known, as for MPI_Init and MPI_Finalize. */
    const struct sg_waitstate_place *after, *until;
    uint32_t rank;
    struct sg_before_figures own, others; /* others: the sum over the other ranks */
    double mean_ns, others_ns; /* per interval; others_ns is NAN if no other rank has one */
    double longer_ns;          /* excess over the others' mean, over all its intervals; or 0 */
    /* The main cause of longer_ns, if the mean is at least a tenth and 5 us longer. */
    bool has_cause;
    enum sg_cause cause;
};

struct sg_before {
    struct sg_before_row *rows; /* largest longer_ns first */
    uint32_t row_count;
    struct sg_waitstate_place *places; /* of the rows */
    uint64_t intervals, time_ns;
    uint32_t mask; /* a bit for each figure that some row has */
};

/* Returns the time that was neither on a processor nor runnable: asleep, or waiting for I/O. Valid
 * if cpu and runnable time are known. */
static inline uint64_t sg_before_off_ns(const struct sg_before_figures *figures)
{
    uint64_t on_ns = figures->of[SG_FIGURE_CPU] + figures->of[SG_FIGURE_RUNNABLE];

    return figures->time_ns > on_ns ? figures->time_ns - on_ns : 0;
}

void sg_before_free(struct sg_before *before);

#endif
