/* The tables that the aggregate fills: sites, communicators, algorithms, ranks, and a row for each
 * call site, communicator and operation.
 */
#ifndef SG_REPORT_AGGREGATE_TABLES_H
#define SG_REPORT_AGGREGATE_TABLES_H

#include "report/counts.h"
#include "report/filter.h"
#include "report/map.h"
#include "report/quantile.h"
#include "report/report.h"
#include "report/trials/trials.h"

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
