/* The critical path of a run: the one chain of intervals and calls, over all ranks, that its end
 * had to wait for. Whatever is not on it could be slower without the run being longer.
 *
 * It is followed back from the end of the call that begins last: through the interval before a
 * call, and where the call waited for another rank (waitstates/waitstates.h), from that rank's call
 * at fault. An interval is the time from leaving a call of MPI to entering the next on one thread;
 * what is named are the two places. Definitions as in Schmitt, Stolle, Dietrich, CASITA (2014) and
 * Boehme et al., Scalable Critical-Path Based Performance Analysis (IPDPS 2012).
 *
 * A balanced interval would save what it has on the path beyond the mean of all intervals between
 * the same two places on all ranks. The estimate takes no other path into account that would then
 * be the longest, and its error is that of the mean: 1.96 standard errors, for each time on the
 * path.
 */
#ifndef SG_REPORT_PATH_PATH_H
#define SG_REPORT_PATH_PATH_H

#include "report/waitstates/waitstates.h"

#include <stdbool.h>
#include <stdint.h>

/* All intervals between two places, or all calls at one, that are on the path. */
struct sg_path_row {
    struct sg_waitstate_place until; /* first: the place of the call, or of what follows */
    struct sg_waitstate_place after; /* of an interval; function NULL: the run's start */
    bool is_call;
    uint64_t ns, times;
    uint32_t ranks;   /* that it is on the path of */
    uint32_t rank;    /* with the longest time there; of several the lowest */
    uint64_t rank_ns; /* its time there */
    /* Of an interval: of all of them, on the path or not. */
    uint64_t mean_ns;
    uint64_t saving_ns, saving_error_ns;
};

struct sg_path {
    struct sg_path_row *rows; /* the longest first */
    uint32_t row_count;
    uint64_t ns; /* from the run's start to its last call's end */
    uint64_t calls_ns, intervals_ns;
    uint64_t changes;                    /* of rank */
    uint64_t saving_ns, saving_error_ns; /* of all rows */
};

void sg_path_free(struct sg_path *path);

#endif
