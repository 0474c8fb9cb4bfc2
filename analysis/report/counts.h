/* Counters of calls, and the statistics of a call site on one rank, with the functions that sum
 * them up. */
#ifndef SG_REPORT_COUNTS_H
#define SG_REPORT_COUNTS_H

#include "core/text.h"
#include "trace/export/vocabulary.h"

#include <stdbool.h>
#include <stdint.h>

enum sg_count {
    SG_COUNT_EARLY,
    SG_COUNT_LATE,
    SG_COUNT_SIGNALS,
    SG_COUNT_IGNORED,
    SG_COUNT_STALLS,
    SG_COUNT_MOVES,
    SG_COUNT_REPEATS,
    SG_COUNT_OUTSTANDING,
    SG_COUNT_COUNT
};

struct sg_counts {
    uint64_t of[SG_COUNT_COUNT];
};

/* Durations of calls; for nonblocking ones, of the calls that start them. */
struct sg_call_times {
    uint64_t calls; /* 0: all others are 0, too */
    uint64_t sum_ns, min_ns, max_ns;
    double square; /* sum of squares, in ns^2 */
};

void sg_call_times_add(struct sg_call_times *into, const struct sg_call_times *more);
void sg_call_times_add_one(struct sg_call_times *into, uint64_t time_ns);

/* The statistics of a row on one rank. */
struct sg_totals {
    uint32_t rank, site, comm, algorithm;
    uint32_t arm; /* candidate's number; 0: no trial */
    enum sg_operation operation;
    bool nonblocking;
    uint64_t calls, bytes, blocked_ns, blocked_max_ns, hidden_ns, handler_ns;
    struct sg_call_times own;     /* of all the calls */
    struct sg_call_times latency; /* nonblocking only: from begin to completion */
    struct sg_counts counts;
};

/* The counters' metrics in the archive. */
extern const enum sg_metric_ref sg_count_metrics[SG_COUNT_COUNT];

/* Adds a number of events; for a level (SG_COUNT_OUTSTANDING) keeps the maximum. */
void sg_counts_add(struct sg_counts *into, enum sg_count count, uint64_t value);
void sg_counts_add_all(struct sg_counts *into, const struct sg_counts *more);

#endif
