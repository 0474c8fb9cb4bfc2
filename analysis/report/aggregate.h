/* Turns instances and statistics into the rows of a report.
 *
 * Each member's call counts for its own call site. What belongs to the instance as a whole (skew,
 * the last rank, the worst instance) counts once, for the site that most members called from; if
 * there are several, for that of the member with the lowest rank in the communicator.
 *
 * Where statistics are given too, a row's calls, bytes, blocked time and counters come from them:
 * they include calls whose events were left out. They are not used if they count fewer calls than
 * the events, because the program reset them (MPI_Pcontrol(2)).
 *
 * Memory grows with call sites, communicators and ranks, not with calls. Functions that return a
 * status: SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_AGGREGATE_H
#define SG_REPORT_AGGREGATE_H

#include "core/status.h"
#include "report/counts.h"
#include "report/filter.h"
#include "report/quantiles.h"
#include "report/report.h"
#include "report/trials.h"
#include "report/watched.h"
#include "report/window.h"
#include "trace/site_text.h"

#include <stdbool.h>

struct sg_aggregate;

enum sg_status sg_aggregate_create(uint32_t ranks, struct sg_aggregate **out);
void sg_aggregate_destroy(struct sg_aggregate *aggregate);
uint32_t sg_aggregate_ranks(const struct sg_aggregate *aggregate);
/* Sets the watcher; it must outlive the filling of the aggregate. */
void sg_aggregate_watch(struct sg_aggregate *aggregate, const struct sg_watch *watch);
/* Rows are numbered from 0 in the order of their first call. Fills in the call site, communicator
 * and operation of a row, as far as they are known by now. */
void sg_aggregate_name_row(const struct sg_aggregate *aggregate, uint32_t row,
                           struct sg_report_site *out);
/* The same of a call site alone, and of a communicator. */
void sg_aggregate_name_site(const struct sg_aggregate *aggregate, uint32_t site,
                            struct sg_report_site *out);
void sg_aggregate_name_comm(const struct sg_aggregate *aggregate, uint32_t comm,
                            struct sg_report_site *out);
/* The index, from 0, of the sum over communicators that a row belongs to. */
uint32_t sg_aggregate_sum_of(const struct sg_aggregate *aggregate, uint32_t row);
const char *sg_aggregate_algorithm_name(const struct sg_aggregate *aggregate, uint32_t algorithm);
/* Index of a call site; texts are copied. A site is identified by its id; NULL is the site of calls
 * without one. A later text fills in a name that is not known yet. */
enum sg_status sg_aggregate_site(struct sg_aggregate *aggregate, const struct sg_site_text *text,
                                 uint32_t *out);
/* Whether the site of an id is there with the names of its function and its module. */
bool sg_aggregate_knows_site(const struct sg_aggregate *aggregate, uint32_t id, uint32_t *out);
/* Index of an algorithm; "" stands for an unknown one. */
enum sg_status sg_aggregate_algorithm(struct sg_aggregate *aggregate, const char *name,
                                      uint32_t *out);
/* Where arms of trials and the length of a block are declared. */
struct sg_trials *sg_aggregate_trials(struct sg_aggregate *aggregate);

/* A new communicator, numbered from 0. first_rank: world rank of its rank 0; -1 for the one that
 * stands for every rank's MPI_COMM_SELF. */

/* Tells what a communicator was made from; NULL: not known. */
enum sg_status sg_aggregate_comm_parent(struct sg_aggregate *aggregate, uint32_t comm,
                                        const char *parent);
enum sg_status sg_aggregate_comm(struct sg_aggregate *aggregate, const char *name, uint32_t size,
                                 int64_t first_rank, uint32_t *out);
/* The nth (from 0) communicator of this name, size and first rank; made if there is none yet. */
enum sg_status sg_aggregate_find_comm(struct sg_aggregate *aggregate, const char *name,
                                      uint32_t size, int64_t first_rank, uint32_t nth,
                                      uint32_t *out);
/* Times are since the run's start. */
enum sg_status sg_aggregate_instance(struct sg_aggregate *aggregate,
                                     const struct sg_instance *instance);
enum sg_status sg_aggregate_late(struct sg_aggregate *aggregate, const struct sg_late_cost *late);
enum sg_status sg_aggregate_totals(struct sg_aggregate *aggregate, const struct sg_totals *totals);
/* Keeps the longest time given for a rank: an archive that ends early shows less than the logs. */
void sg_aggregate_run_time(struct sg_aggregate *aggregate, uint32_t rank, uint64_t run_ns);
/* The number of the rank's threads that recorded; where there are events, the threads that called
 * are counted instead. */
void sg_aggregate_threads(struct sg_aggregate *aggregate, uint32_t rank, uint32_t threads);
/* Fills rows, sums, ranks, trials and clock violations of *report, and leaves its other fields
 * alone. From then on the report owns the aggregate (report->strings), also on failure. */
enum sg_status sg_aggregate_finish(struct sg_aggregate *aggregate, struct sg_report *report);

/* The tables that the aggregate fills: sites, communicators, algorithms, ranks, and a row for each
 * call site, communicator and operation.
 */

struct sg_known_site {
    bool has_id;
    uint32_t id;
    uint32_t line;
    uint64_t offset;
    char *function, *file, *module;
    uint32_t votes; /* members of the current instance; 0 between instances */
};

struct sg_known_comm {
    char *name;
    char *parent; /* NULL: not known */
    uint32_t size;
    int64_t first_rank;
};

struct sg_row {
    uint32_t site, comm;
    uint32_t sum; /* index of the sum for its call site and operation */
    bool left_out;
    enum sg_operation operation;
    bool nonblocking;
    struct sg_report_site events;
    struct sg_totals totals;
    uint64_t *last_counts; /* by rank in the communicator */
    uint32_t *last_ranks;  /* their world ranks */
    struct sg_quantiles skews;
    uint32_t *algorithms; /* in order of use */
    uint32_t algorithm_count;
};

struct sg_rank {
    uint64_t run_ns;
    uint64_t event_calls, event_blocked_ns, event_exposed_ns, wait_ns;
    uint64_t last_count; /* instances in which it came last */
    uint64_t total_calls, total_blocked_ns, total_exposed_ns;
    uint64_t callers; /* a bit for each thread that called; the last bit is for all further ones */
    uint32_t threads; /* known from the statistics */
};

struct sg_aggregate {
    struct sg_known_site *sites;
    struct sg_known_comm *comms;
    struct sg_row *rows;
    char **algorithms;
    struct sg_rank *ranks;
    uint32_t site_count, comm_count, row_count, algorithm_count, rank_count, sum_count;
    struct sg_map site_by_id, sum_by_key, row_by_key;
    uint64_t violations, largest_violation_ns;
    const struct sg_watch *watch;   /* NULL: nobody */
    const struct sg_filter *filter; /* NULL: all */
    struct sg_trials *trials;
    /* By member of the current instance. */
    struct sg_call_measure *costs;
    uint32_t *cost_rows;
    uint32_t cost_room;
};

static inline uint64_t sg_sum_key(uint32_t site, enum sg_operation operation, bool nonblocking)
{
    return (uint64_t)site << 32 | (uint64_t)operation << 1 | nonblocking;
}

static inline uint64_t sg_row_key(int64_t sum, uint32_t comm)
{
    return (uint64_t)sum << 32 | comm;
}

#endif
