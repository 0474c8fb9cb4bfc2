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
#include "report/watched.h"
#include "report/window.h"
#include "trace/site_text.h"

#include <stdbool.h>

struct sg_aggregate;

enum sg_status sg_aggregate_create(uint32_t ranks, struct sg_aggregate **out);
void sg_aggregate_destroy(struct sg_aggregate *aggregate);
uint32_t sg_aggregate_ranks(const struct sg_aggregate *aggregate);
/* Sets the watch and its filter; NULL: none. The watch must outlive the filling of the aggregate.
 */
void sg_aggregate_watch(struct sg_aggregate *aggregate, const struct sg_watch *watch);
/* Reads the rules of the run at path, if the watch wants them, before the first row. */
enum sg_status sg_aggregate_read_rules(struct sg_aggregate *aggregate, const char *path,
                                       const struct sg_run_waiting *waiting);
/* Fills in the call site, communicator and operation of a row, as far as they are known by now.
 * Rows are numbered from 0 in the order of their first call. */
void sg_aggregate_name_row(const struct sg_aggregate *aggregate, uint32_t row,
                           struct sg_report_site *out);
/* As sg_aggregate_name_row(), for a call site or a communicator alone. */
void sg_aggregate_name_site(const struct sg_aggregate *aggregate, uint32_t site,
                            struct sg_report_site *out);
void sg_aggregate_name_comm(const struct sg_aggregate *aggregate, uint32_t comm,
                            struct sg_report_site *out);
/* Returns the index, from 0, of the row's sum over communicators. */
uint32_t sg_aggregate_sum_of(const struct sg_aggregate *aggregate, uint32_t row);
const char *sg_aggregate_algorithm_name(const struct sg_aggregate *aggregate, uint32_t algorithm);
/* Finds or adds a call site by its id; a NULL text is the site of calls without one. *out: its
 * index. Copies the text; a later text fills in names that are still unknown. */
enum sg_status sg_aggregate_site(struct sg_aggregate *aggregate, const struct sg_site_text *text,
                                 uint32_t *out);
/* True if the call site with this id is known with the names of its function and its module; *out:
 * its index. */
bool sg_aggregate_knows_site(const struct sg_aggregate *aggregate, uint32_t id, uint32_t *out);
/* Finds or adds an algorithm; "" stands for an unknown one. *out: its index. */
enum sg_status sg_aggregate_algorithm(struct sg_aggregate *aggregate, const char *name,
                                      uint32_t *out);
/* Returns the trials, in which readers declare the candidates and the length of a block. */
struct sg_trials *sg_aggregate_trials(struct sg_aggregate *aggregate);

/* Sets the name of the communicator's parent unless it has one; NULL: not known. */
enum sg_status sg_aggregate_comm_parent(struct sg_aggregate *aggregate, uint32_t comm,
                                        const char *parent);
/* Adds a communicator, numbered from 0. first_rank: world rank of its rank 0; -1 for the one that
 * stands for every rank's MPI_COMM_SELF. */
enum sg_status sg_aggregate_comm(struct sg_aggregate *aggregate, const char *name, uint32_t size,
                                 int64_t first_rank, uint32_t *out);
/* Finds the nth (from 0) communicator with this name, size and first rank; adds it if there is
 * none. */
enum sg_status sg_aggregate_find_comm(struct sg_aggregate *aggregate, const char *name,
                                      uint32_t size, int64_t first_rank, uint32_t nth,
                                      uint32_t *out);
/* Add an instance, a late contribution, and the statistics of a row on one rank. Times are ns since
 * the run's start. */
enum sg_status sg_aggregate_instance(struct sg_aggregate *aggregate,
                                     const struct sg_instance *instance);
enum sg_status sg_aggregate_late(struct sg_aggregate *aggregate, const struct sg_late_cost *late);
enum sg_status sg_aggregate_totals(struct sg_aggregate *aggregate, const struct sg_totals *totals);
/* Sets a rank's run time. The longest one counts: an archive that ends early shows less than the
 * logs. */
void sg_aggregate_run_time(struct sg_aggregate *aggregate, uint32_t rank, uint64_t run_ns);
/* Sets the begin of a rank's run, and the run time; ns since the run's start. */
void sg_aggregate_span(struct sg_aggregate *aggregate, uint32_t rank, int64_t begin_ns,
                       int64_t end_ns);
/* Sets a rank's time in MPI_Init and MPI_Finalize. The longest counts, as for run times. */
/* Adds time of the rank in a call that has not ended. */
void sg_aggregate_open(struct sg_aggregate *aggregate, uint32_t rank, uint64_t open_ns);
void sg_aggregate_ends(struct sg_aggregate *aggregate, uint32_t rank, uint64_t ends_ns);
/* Sets the number of the rank's threads that recorded. If events show more threads that called, the
 * report has their number. */
void sg_aggregate_threads(struct sg_aggregate *aggregate, uint32_t rank, uint32_t threads);
/* Fills rows, sums, ranks, run times, trials, filter and clock violations of *report, and leaves
 * its other fields alone. From then on the report owns the aggregate (report->strings), also on
 * failure. */
enum sg_status sg_aggregate_finish(struct sg_aggregate *aggregate, struct sg_report *report);

/* The tables that aggregate.c fills and aggregate_finish.c turns into the report: call sites,
 * communicators, algorithms, ranks, and a row for each call site, communicator and operation. */

struct sg_known_site {
    bool has_id;
    uint32_t id;
    uint32_t line;
    uint64_t offset;
    char *function, *file, *module;
    uint32_t votes; /* members of the current instance that called from here; 0 between instances */
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
    uint64_t run_ns, ends_ns;
    int64_t begin_ns, end_ns; /* equal: unknown */
    uint64_t event_calls, event_blocked_ns, event_exposed_ns, wait_ns;
    uint64_t last_count; /* instances in which it came last */
    uint64_t total_calls, total_blocked_ns, total_exposed_ns;
    uint64_t open_ns; /* in calls of MPI that have not ended */
    uint64_t callers; /* a bit for each thread that called; the last bit is for all further ones */
    uint32_t threads; /* from the statistics, or those with calls in the events */
    /* Those of them that count for a part of the run, and the sum of these parts. */
    uint32_t short_threads;
    uint64_t short_ns;
};

struct sg_aggregate {
    struct sg_known_site *sites;
    struct sg_known_comm *comms;
    struct sg_row *rows;
    struct sg_names algorithms;
    struct sg_rank *ranks;
    uint32_t site_count, comm_count, row_count, rank_count, sum_count;
    struct sg_map site_by_id, sum_by_key, row_by_key;
    uint64_t violations, largest_violation_ns;
    const struct sg_watch *watch;   /* NULL: no watch */
    const struct sg_filter *filter; /* NULL: takes all calls */
    struct sg_trials *trials;
    struct sg_rule_uses *rules; /* report/rule_use.h; NULL: not known, or not wanted */
    /* By member of the current instance; cost_room is the capacity. */
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

/* Gathers the cost of each block of each communicator while a run is read, and reports on it.
 *
 * Memory grows with blocks, not with calls. Functions that return a status return SG_OK or
 * SG_ERR_MEMORY, which they do not log. Not thread-safe.
 */

struct sg_trials;

enum sg_status sg_trials_create(struct sg_trials **out);
void sg_trials_destroy(struct sg_trials *trials);
/* Sets the number of collectives in a block, before any call is added. */
void sg_trials_set_block(struct sg_trials *trials, uint64_t block);
/* Returns the number of a candidate, from 1, in *out; texts are copied. */
enum sg_status sg_trials_arm(struct sg_trials *trials, const char *place, const char *text,
                             uint32_t *out);
/* site: the call site that the instance counts for. algorithms: names by index. */
enum sg_status sg_trials_instance(struct sg_trials *trials, const struct sg_seen_instance *seen,
                                  uint32_t site, char *const *algorithms);
enum sg_status sg_trials_late(struct sg_trials *trials, const struct sg_late_cost *late);
enum sg_status sg_trials_totals(struct sg_trials *trials, const struct sg_totals *totals,
                                char *const *algorithms);
/* The caller owns *out; texts of call sites are not filled in. */
enum sg_status sg_trials_finish(struct sg_trials *trials, struct sg_report_trial **out,
                                uint32_t *count);
void sg_report_trial_clear(struct sg_report_trial *trial);

#endif
