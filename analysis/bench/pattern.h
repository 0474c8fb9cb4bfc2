/* Arrival patterns: how late each rank comes to each call.
 *
 * A pattern is a function of (seed, round, rank): every rank can tell everybody's lateness, and two
 * variants of one round meet the same arrivals. What ranks make of it, the achieved skew, is
 * measured, and told beside.
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
    SG_BENCH_TOGETHER,    /* nobody is late */
    SG_BENCH_ONE_LATE,    /* one rank, by the skew */
    SG_BENCH_SOME_LATE,   /* k ranks, by the skew; others each round */
    SG_BENCH_UNIFORM,     /* each by anything up to the skew */
    SG_BENCH_EXPONENTIAL, /* each by an exponential time with the skew as its mean, ten at most */
    SG_BENCH_LINEAR,      /* by rank: 0 the first, the last rank by the skew */
    SG_BENCH_REPLAY,      /* as a program's ranks came, round by round */
    SG_BENCH_ARRIVALS
};

struct sg_bench_pattern {
    enum sg_bench_arrival arrival;
    double skew_ns;
    int late_rank; /* of SG_BENCH_ONE_LATE */
    int late_count;
    int ranks;
    uint64_t seed;
    /* Of SG_BENCH_REPLAY: lateness_ns[call * ranks + rank], each call's first arrival 0. */
    const double *lateness_ns;
    size_t calls;
};

extern const char *const sg_bench_arrival_names[SG_BENCH_ARRIVALS + 1]; /* NULL at the end */

/* How late a rank comes, in ns. */
double sg_bench_lateness_ns(const struct sg_bench_pattern *pattern, uint64_t round, int rank);

/* The most that any rank may be late. */
double sg_bench_lateness_most_ns(const struct sg_bench_pattern *pattern);

/* Whether the rank is to be the last, or one of the last, of that round; false where that is left
 * to chance. */
bool sg_bench_is_to_be_late(const struct sg_bench_pattern *pattern, uint64_t round, int rank);

/* A replay's file, as `stagger arrivals` prints it: lines of as many numbers, us, as there are
 * ranks;
 * '#' begins a comment. SG_ERR_MISSING, SG_ERR_FORMAT (logged): *lateness_ns is malloc'ed. */
enum sg_status sg_bench_pattern_read(const char *path, int ranks, double **lateness_ns,
                                     size_t *calls);

#endif
