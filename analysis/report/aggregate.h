/* From instances and statistics to the rows of a report.
 *
 * Each member's call counts for its own call site. What belongs to the instance as a whole (skew,
 * who was last, the worst) counts once, for the site from which most members came; of several
 * such, the one with the lowest rank in the communicator among its callers.
 *
 * Where statistics are given too, a row's calls, bytes, blocked time and counters are the
 * statistics' (they see calls whose events were left out), unless they know of fewer calls than
 * the events (the program reset them, MPI_Pcontrol(2)).
 *
 * Memory grows with call sites, communicators and ranks, not with calls. Functions that return a
 * status: SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_AGGREGATE_H
#define SG_REPORT_AGGREGATE_H

#include "core/status.h"
#include "report/report.h"
#include "report/trials/trials.h"
#include "report/watch.h"
#include "report/window.h"
#include "trace/site_text.h"

struct sg_aggregate;

enum sg_status sg_aggregate_create(uint32_t ranks, struct sg_aggregate **out);
void sg_aggregate_destroy(struct sg_aggregate *aggregate);
uint32_t sg_aggregate_ranks(const struct sg_aggregate *aggregate);
/* From now on; the watch outlives the aggregate's filling. */
void sg_aggregate_watch(struct sg_aggregate *aggregate, const struct sg_watch *watch);

/* Rows are numbered from 0 in the order of their first call. Fills what is known of one besides its
 * figures: its call site, communicator and operation, as far as they are known by now. */
void sg_aggregate_name_row(const struct sg_aggregate *aggregate, uint32_t row,
                           struct sg_report_site *out);
/* The number of the sum over communicators that a row adds to, likewise from 0. */
uint32_t sg_aggregate_sum_of(const struct sg_aggregate *aggregate, uint32_t row);
const char *sg_aggregate_algorithm_name(const struct sg_aggregate *aggregate, uint32_t algorithm);

/* Index of a call site; texts are copied. Known sites are found again by id; NULL is the site of
 * calls without one. A name that is not known yet is filled in from a later text. */
enum sg_status sg_aggregate_site(struct sg_aggregate *aggregate, const struct sg_site_text *text,
                                 uint32_t *out);
/* Index of an algorithm; "" stands for one that is not known. */
enum sg_status sg_aggregate_algorithm(struct sg_aggregate *aggregate, const char *name,
                                      uint32_t *out);

/* Where arms of trials are made known, and what a block is. */
struct sg_trials *sg_aggregate_trials(struct sg_aggregate *aggregate);

/* A new communicator, numbered from 0. first_rank: world rank of its rank 0; -1 for the one that
 * stands for every rank's MPI_COMM_SELF. */
enum sg_status sg_aggregate_comm(struct sg_aggregate *aggregate, const char *name, uint32_t size,
                                 int64_t first_rank, uint32_t *out);

/* The nth (from 0) communicator of this name, size and first rank, made when it is not there. */
enum sg_status sg_aggregate_find_comm(struct sg_aggregate *aggregate, const char *name,
                                      uint32_t size, int64_t first_rank, uint32_t nth,
                                      uint32_t *out);

/* Times are since the run's start. */
enum sg_status sg_aggregate_instance(struct sg_aggregate *aggregate,
                                     const struct sg_instance *instance);
enum sg_status sg_aggregate_late(struct sg_aggregate *aggregate, const struct sg_late_cost *late);
enum sg_status sg_aggregate_totals(struct sg_aggregate *aggregate, const struct sg_totals *totals);

/* The longest that is told of a rank: an archive that ends early knows of less than the logs. */
void sg_aggregate_run_time(struct sg_aggregate *aggregate, uint32_t rank, uint64_t run_ns);

/* The rank's threads that recorded; where there are events, those that called are counted. */
void sg_aggregate_threads(struct sg_aggregate *aggregate, uint32_t rank, uint32_t threads);

/* Fills rows, sums, ranks, trials, sums and clock violations of *report, whose other fields are
 * left alone. The aggregate lives in the report afterwards (report->strings), also on failure. */
enum sg_status sg_aggregate_finish(struct sg_aggregate *aggregate, struct sg_report *report);

#endif
