/* The intervals between calls of MPI that were sampled, the latest of each thread (location), until
 * the collective that they led to is told.
 *
 * Memory: SG_INTERVALS_KEPT a location at most; older ones are forgotten. Functions that return a
 * status: SG_ERR_MEMORY only, not logged. Not thread-safe.
 */
#ifndef SG_REPORT_CAUSES_INTERVALS_H
#define SG_REPORT_CAUSES_INTERVALS_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

#define SG_INTERVALS_KEPT 4096

struct sg_intervals_kept;

/* What is not known is 0, and has no bit in `known`. */
struct sg_sampled_interval {
    int64_t begin_ns, end_ns;
    uint64_t cpu_ns, runnable_ns;
    uint64_t throttled_ns; /* the control group's, part of runnable as far as it is the thread's */
    uint64_t user_ns, system_ns;
    uint64_t faults, blocks; /* faults of both kinds; blocks read and written, and major faults */
    uint64_t instructions, cycles;
    /* Of the call before it (trace/figure.h). */
    uint64_t resumed_ns, away_ns, was_ready;
    uint64_t call_cpu_ns, call_runnable_ns;
    uint64_t call_threads_here_ns, call_threads_elsewhere_ns, call_throttled_ns;
    uint64_t threads_here_ns, threads_elsewhere_ns;
    uint32_t known; /* enum sg_interval_known */
};

enum sg_interval_known {
    SG_KNOWN_CPU = 1,
    SG_KNOWN_RUNNABLE = 2,
    SG_KNOWN_USAGE = 4,
    SG_KNOWN_INSTRUCTIONS = 8,
    SG_KNOWN_SWITCH = 16, /* resumed_ns, away_ns, was_ready */
    SG_KNOWN_CALL = 32,
    SG_KNOWN_THREADS = 64,      /* threads_here_ns, threads_elsewhere_ns */
    SG_KNOWN_CALL_OTHERS = 128, /* those of the call, and what of it was throttled */
};

enum sg_status sg_intervals_kept_create(uint32_t locations, struct sg_intervals_kept **out);
void sg_intervals_kept_destroy(struct sg_intervals_kept *kept);

/* In the order of time of each location. */
enum sg_status sg_intervals_kept_add(struct sg_intervals_kept *kept, uint32_t location,
                                     const struct sg_sampled_interval *interval);

/* The last one, whose figures may still come; NULL: none. */
struct sg_sampled_interval *sg_intervals_kept_last(struct sg_intervals_kept *kept,
                                                   uint32_t location);

/* The first that ends after the moment; NULL: none. */
const struct sg_sampled_interval *sg_intervals_kept_first(const struct sg_intervals_kept *kept,
                                                          uint32_t location, int64_t time_ns);
/* The one behind it; NULL: none. */
const struct sg_sampled_interval *sg_intervals_kept_next(const struct sg_intervals_kept *kept,
                                                         uint32_t location,
                                                         const struct sg_sampled_interval *at);

#endif
