/* Finds the critical path (path.h): is told of calls and waits while events are read, and follows
 * the path back at the end.
 *
 * Memory grows with pairs of places and the ranks at each; calls are in a temporary file
 * (history.h). Functions that return a status: SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_CRITICAL_PATH_H
#define SG_REPORT_CRITICAL_PATH_H

#include "output/column.h"
#include "report/text_tables.h"
#include "report/wait_sums.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

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

struct sg_critical;

struct sg_history;

/* The places outlive it, and the path. */
enum sg_status sg_critical_create(struct sg_places *places, uint32_t locations,
                                  struct sg_critical **out);
void sg_critical_destroy(struct sg_critical *critical);
/* A call of the location, which is its rank's, has returned. As sg_history_add(). */
enum sg_status sg_critical_call(struct sg_critical *critical, uint32_t location,
                                const struct sg_waitstate_end *who, int64_t begin_ns,
                                int64_t end_ns);
/* The call at that moment waited until then for the other location. */
void sg_critical_wait(struct sg_critical *critical, uint32_t location, int64_t at_ns,
                      int64_t until_ns, uint32_t other);
/* For others that look back. */
struct sg_history *sg_critical_history(struct sg_critical *critical);
/* *out is NULL where nothing is known. */
enum sg_status sg_critical_finish(struct sg_critical *critical, struct sg_path **out);

/* The columns of rows of the critical path (struct sg_path_row); the context is the path. */

extern const struct sg_columns sg_path_columns;

/* Prints the critical path: nothing if it is not known. As in report/print.h; there,
 * report->critical_path may be NULL.
 */

enum sg_status sg_path_print(const struct sg_report *report, const struct sg_print_options *options,
                             FILE *out);
/* How many of the rows the text leaves out. */
void sg_path_print_notes(const struct sg_report *report, const struct sg_print_options *options,
                         FILE *out);
/* Sets the report's member about the critical path; null where it is not known. */
void sg_path_json(json_t **root, const struct sg_report *report,
                  const struct sg_print_options *options);
enum sg_status sg_path_print_csv(const struct sg_report *report,
                                 const struct sg_print_options *options, FILE *out);

#endif
