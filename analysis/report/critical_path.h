/* Finds the critical path while events are read: receives calls and waits, and follows the path
 * back at the end; its section of the report.
 *
 * Memory grows with pairs of call sites and the ranks at each; calls are in a temporary file
 * (path_history.h). Functions that find the path return SG_ERR_MEMORY only, not logged. Not
 * thread-safe.
 */
#ifndef SG_REPORT_CRITICAL_PATH_H
#define SG_REPORT_CRITICAL_PATH_H

#include "output/column.h"
#include "report/wait_sums.h"

#include <stdbool.h>
#include <stdint.h>

/* The critical path of a run: the one chain of intervals and calls, over all ranks, that the run's
 * end had to wait for. Anything not on it could be slower without a longer run.
 *
 * It is followed back from the end of the call that begins last (if the log was full, from the call
 * at that moment: later on, calls are missing, and would count as intervals): through the interval
 * before a call and, where the call waited for another rank (wait_sums.h), from that rank's call at
 * fault. An interval is the time from leaving a call of MPI to entering the next on one thread; the
 * two call sites name it. Definitions as in Schmitt, Stolle, Dietrich, CASITA (2014) and Boehme et
 * al., Scalable Critical-Path Based Performance Analysis (IPDPS 2012).
 *
 * Balance would save the time that an interval has on the path beyond the mean of all intervals
 * between the same two call sites on all ranks. The estimate ignores other paths that would then be
 * the longest. Its error is that of the mean: 1.96 standard errors for each time on the path.
 */

/* All intervals on the path between two call sites, or all calls at one. */
struct sg_path_row {
    struct sg_waitstate_place until; /* must be first: the call, or the end of the interval */
    struct sg_waitstate_place after; /* where an interval begins; function NULL: the run's start */
    bool is_call;
    uint64_t ns, times;
    uint32_t ranks;   /* number of ranks that have it on the path */
    uint32_t rank;    /* the rank with the most time there; on a tie the lowest */
    uint64_t rank_ns; /* its time there */
    /* Intervals only. mean_ns: of all of them, on the path or not. */
    uint64_t mean_ns;
    uint64_t saving_ns, saving_error_ns;
};

struct sg_path {
    struct sg_path_row *rows; /* longest first */
    uint32_t row_count;
    uint64_t ns; /* from the run's start to its last call's end */
    uint64_t calls_ns, intervals_ns;
    uint64_t changes;                    /* of the rank */
    uint64_t saving_ns, saving_error_ns; /* of all rows together */
};

void sg_path_free(struct sg_path *path);

struct sg_critical;

struct sg_history;

/* `places` must outlive it, and the path. */
enum sg_status sg_critical_create(struct sg_places *places, uint32_t locations,
                                  struct sg_critical **out);
void sg_critical_destroy(struct sg_critical *critical);
/* Adds a call of the location that has returned, as sg_history_add() does. who: call site and rank.
 */
enum sg_status sg_critical_call(struct sg_critical *critical, uint32_t location,
                                const struct sg_waitstate_end *who, int64_t begin_ns,
                                int64_t end_ns);
/* The call that contains at_ns waited until until_ns for the other location. */
void sg_critical_wait(struct sg_critical *critical, uint32_t location, int64_t at_ns,
                      int64_t until_ns, uint32_t other);
/* The call that contains at_ns cannot end before the calls of the list (path_history.h) begin. */
void sg_critical_need(struct sg_critical *critical, uint32_t location, int64_t at_ns,
                      uint32_t list);
/* Returns the history, for others that look back (cause_finder.h). */
struct sg_history *sg_critical_history(struct sg_critical *critical);
/* The path ends at the time; INT64_MAX: with the run. *out is NULL if nothing is known. */
enum sg_status sg_critical_finish(struct sg_critical *critical, int64_t until_ns,
                                  struct sg_path **out);

/* The columns of struct sg_path_row; the context is the path. */
extern const struct sg_columns sg_path_columns;

#endif
