/* Wait states on the two sides: number and time of the waits of each kind at each call site, per
 * run and over all ranks. Intervals are as in calls.h.
 */
#ifndef SG_COMPARE_WAITS_H
#define SG_COMPARE_WAITS_H

#include "compare/calls.h"
#include "report/waitstates/waitstates.h"

struct sg_compared_waits {
    bool is_known;                                       /* in all runs */
    struct sg_compared_call_list of[SG_WAITSTATE_KINDS]; /* calls and time_ns are the waits' */
    struct sg_call_row **rows;                           /* which these refer to; owned */
    uint32_t row_count;
};

/* Adds the runs of a side, of both in turn. SG_ERR_MEMORY only (not logged); the caller clears it
 * in any case. */
enum sg_status sg_compared_waits_add(struct sg_compared_waits *waits, int side,
                                     const struct sg_report *runs, uint32_t run_count);
/* When both sides are there; several: one of them has several runs. */
void sg_compared_waits_finish(struct sg_compared_waits *waits, bool several);
void sg_compared_waits_clear(struct sg_compared_waits *waits);

#endif
