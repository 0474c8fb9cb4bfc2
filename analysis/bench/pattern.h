/* Arrival patterns: how late each rank comes to each call.
 *
 * A pattern is a function of (seed, round, rank): every rank can compute everybody's lateness, and
 * two variants in one round have the same arrivals. The skew that the ranks actually achieve is
 * measured and reported separately.
 *
 * Free of MPI.
 */
#ifndef SG_BENCH_PATTERN_H
#define SG_BENCH_PATTERN_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sg_bench_arrival {
    SG_BENCH_TOGETHER,  /* nobody is late */
    SG_BENCH_ONE_LATE,  /* one rank, by the skew */
    SG_BENCH_SOME_LATE, /* k ranks, by the skew; other ranks in each round */
    SG_BENCH_UNIFORM,   /* each by a uniform time up to the skew */
    /* each by an exponential time with the skew as its mean, at most ten times that */
    SG_BENCH_EXPONENTIAL,
    SG_BENCH_LINEAR, /* by rank: rank 0 not at all, the last rank by the skew */
    SG_BENCH_REPLAY, /* as recorded from a program's ranks, round by round */
    SG_BENCH_ARRIVALS
};

struct sg_bench_pattern {
    enum sg_bench_arrival arrival;
    double skew_ns;
    int late_rank; /* of SG_BENCH_ONE_LATE */
    int late_count;
    int ranks;
    uint64_t seed;
    /* For SG_BENCH_REPLAY: lateness_ns[call * ranks + rank], each call's first arrival 0. */
    const double *lateness_ns;
    size_t calls;
};

extern const char *const sg_bench_arrival_names[SG_BENCH_ARRIVALS + 1]; /* NULL at the end */

/* The rank's lateness in ns. */
double sg_bench_lateness_ns(const struct sg_bench_pattern *pattern, uint64_t round, int rank);

/* The most that any rank may be late. */
double sg_bench_lateness_most_ns(const struct sg_bench_pattern *pattern);

/* Whether the rank is to be the last, or one of the last, in that round; false if that is random.
 */
bool sg_bench_is_to_be_late(const struct sg_bench_pattern *pattern, uint64_t round, int rank);

/* A replay's file, as `stagger arrivals` prints it: lines with a number in us for each rank; '#'
 * begins a comment. SG_ERR_MISSING, SG_ERR_FORMAT (logged). *lateness_ns is malloc'ed. */
enum sg_status sg_bench_pattern_read(const char *path, int ranks, double **lateness_ns,
                                     size_t *calls);

#endif
