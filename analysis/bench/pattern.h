/* Arrival patterns: how late each rank comes to each call; and the plan of blocks in a row.
 *
 * A pattern is a function of (seed, round, rank): every rank can compute the lateness of all, and
 * all variants in one round have the same arrivals. The skew that the ranks actually achieve is
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
    SG_BENCH_TOGETHER,  /* no rank is late */
    SG_BENCH_ONE_LATE,  /* one rank, by the skew */
    SG_BENCH_SOME_LATE, /* k ranks, by the skew; chosen anew in each round */
    SG_BENCH_UNIFORM,   /* each by a uniform time up to the skew */
    /* Each by an exponential time with the skew as its mean, at most ten times that. */
    SG_BENCH_EXPONENTIAL,
    SG_BENCH_LINEAR, /* by rank: rank 0 not at all, the last rank by the skew */
    SG_BENCH_REPLAY, /* as recorded from a program's ranks, round by round */
    SG_BENCH_ARRIVALS
};

struct sg_bench_pattern {
    enum sg_bench_arrival arrival;
    double skew_ns;
    int late_rank; /* for SG_BENCH_ONE_LATE */
    int late_count;
    int ranks;
    uint64_t seed;
    /* For SG_BENCH_REPLAY: lateness_ns[call * ranks + rank]; each call's first arrival is 0. */
    const double *lateness_ns;
    size_t calls;
};

extern const char *const sg_bench_arrival_names[SG_BENCH_ARRIVALS + 1]; /* ends with NULL */

/* Returns the rank's lateness in ns. */
double sg_bench_lateness_ns(const struct sg_bench_pattern *pattern, uint64_t round, int rank);
/* Returns an upper bound of any rank's lateness in ns. */
double sg_bench_lateness_most_ns(const struct sg_bench_pattern *pattern);
/* Returns true if SG_BENCH_ONE_LATE or SG_BENCH_SOME_LATE makes the rank late in that round; false
 * for other patterns. */
bool sg_bench_is_to_be_late(const struct sg_bench_pattern *pattern, uint64_t round, int rank);
/* Reads a replay's file, as `stagger arrivals` prints it: lines with a number in us for each rank;
 * '#' begins a comment. SG_ERR_MISSING, SG_ERR_FORMAT, SG_ERR_MEMORY (logged). *lateness_ns is
 * malloc'ed. */
enum sg_status sg_bench_pattern_read(const char *path, int ranks, double **lateness_ns,
                                     size_t *calls);

/* ---- the plan of a row: calls in a block, and pairs of blocks
 *
 * A row alternates blocks of both sides, which may differ a thousandfold in speed. Each side has
 * its own number of calls, so that its block takes about as long as the other's, and the pairs of
 * blocks fill the time of a row. A block has at least one call: if a call takes long, blocks are
 * longer and fewer. There are enough pairs for an interval, unless calls become far slower than
 * during planning: if other work starts on the machine, spinning ranks may become a thousand times
 * slower. Pure functions.
 */

#define SG_BENCH_PAIRS_MAX 401

struct sg_bench_plan {
    uint64_t calls[2]; /* calls in a block, by side */
    size_t pairs;      /* SG_BENCH_COUNT_MIN to SG_BENCH_PAIRS_MAX */
    double limit_ns;   /* after this time no further pair is measured */
};

/* call_ns: estimated time of a call, by side. calls: the number of calls in a block, on both sides;
 * 0: as many as fit. */
struct sg_bench_plan sg_bench_plan_row(const double call_ns[2], double row_ns, uint64_t calls);
/* Returns the length of a block if calls are short compared with it. */
double sg_bench_plan_block_ns(double row_ns);
/* Returns the number of calls in the next trial, after a trial of `calls` calls took taken_ns; 0:
 * that was long enough to plan blocks of block_ns. */
uint64_t sg_bench_plan_trial(uint64_t calls, double taken_ns, double block_ns);

#endif
