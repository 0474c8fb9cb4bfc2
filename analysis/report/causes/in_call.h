/* How a thread (location) spent a part of a call of MPI: on a processor, ready to run without one
 * and who had it, or asleep; as far as the figures tell that the interval behind the call has of
 * it. Pure.
 *
 * These are the thread's last switch, which gives the call's last part moment by moment, and sums
 * over the call, which give bounds for the rest: of what the whole call had of something, no more
 * than its other parts' length can have been in those. What may have been one thing or another is
 * not told.
 */
#ifndef SG_REPORT_CAUSES_IN_CALL_H
#define SG_REPORT_CAUSES_IN_CALL_H

#include "report/causes/intervals.h"

struct sg_in_call {
    int64_t begin_ns, end_ns; /* of the call */
    int64_t from_ns, to_ns;   /* the part of it */
};

struct sg_in_call_spent {
    double cpu_ns, ready_ns, asleep_ns;
    double throttled_ns; /* ready, but its control group had used up its quota */
    double untold_ns;    /* the five sum up to the part's length */
    /* Of ready_ns: what the process's other threads had of the thread's processor, and what they,
     * or a quota, perhaps had. */
    double threads_here_ns, threads_elsewhere_ns;
};

/* The interval behind a call that ends then; NULL: it was not sampled, or is no longer kept. */
const struct sg_sampled_interval *sg_in_call_find(const struct sg_intervals_kept *intervals,
                                                  uint32_t location, int64_t end_ns);

/* behind: the interval behind the call; NULL: nothing is told. */
void sg_in_call_split(const struct sg_in_call *call, const struct sg_sampled_interval *behind,
                      struct sg_in_call_spent *out);

#endif
