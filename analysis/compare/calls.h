/* All calls of MPI on the two sides: the time in each function, and at each of its call sites, per
 * run and over all ranks.
 *
 * There are no single calls in these statistics. So with one run a side there is no interval; with
 * several it is the one of the runs' times (run_spread.h).
 */
#ifndef SG_COMPARE_CALLS_H
#define SG_COMPARE_CALLS_H

#include "compare/run_spread.h"
#include "report/profile/calls.h"

/* Means over the runs that have it. */
struct sg_call_side {
    uint32_t run_count;
    uint64_t calls, time_ns, sent_bytes, received_bytes;
};

struct sg_compared_call {
    const struct sg_call_row *row; /* the names: of the first run that has it */
    bool by_place;                 /* ids differ, function, file and line are the same */
    struct sg_call_side side[2];
    struct sg_run_means times[2];    /* of the runs */
    struct sg_difference difference; /* where both sides have it */
    uint32_t run;                    /* the last one that was added */
};

struct sg_compared_call_list {
    struct sg_compared_call *of; /* the most time first, of the side with more */
    uint32_t count;
};

/* Adds the rows of a run, by call site or else by file and line; run: another number for each run
 * of each side. The rows outlive the list. SG_ERR_MEMORY only (not logged). */
enum sg_status sg_compared_call_list_add(struct sg_compared_call_list *list, int side,
                                         const struct sg_call_row *rows, uint32_t count,
                                         uint32_t run);
void sg_compared_call_list_finish(struct sg_compared_call_list *list, bool several);

struct sg_compared_calls {
    bool is_known; /* in all runs */
    struct sg_compared_call_list functions, sites;
    uint32_t top; /* rows to show of each list; 0: all */
    uint64_t time_ns[2], processor_ns[2];
};

/* Adds the runs of a side. SG_ERR_MEMORY only (not logged); the caller clears it in any case. */
enum sg_status sg_compared_calls_add(struct sg_compared_calls *calls, int side,
                                     const struct sg_report *runs, uint32_t run_count);
/* When both sides are there; several: one of them has several runs. */
void sg_compared_calls_finish(struct sg_compared_calls *calls, bool several);
void sg_compared_calls_clear(struct sg_compared_calls *calls);

#endif
