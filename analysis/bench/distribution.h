/* Statistics of values, and of calls. Medians have 95 % intervals, without an assumption about the
 * distribution. The file also has the spread of values, a stop rule, the summary of several
 * launches, and the ranks' times in one call with their reduction to one number.
 *
 * The interval of a median is that of order statistics: of n values in order, the k-th from either
 * end, where k is the greatest for which the binomial distribution (n, 1/2) keeps at least 95 %
 * between them. Below six values there is no such k, and the interval extends from the least to the
 * greatest.
 *
 * Free of MPI. Statistics are pure functions, except that they sort the arrays in place;
 * thread-safe.
 */
#ifndef SG_BENCH_DISTRIBUTION_H
#define SG_BENCH_DISTRIBUTION_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The fewest values with a 95 % interval. */
#define SG_BENCH_COUNT_MIN 6

struct sg_bench_summary {
    double median; /* of an even count the mean of the middle two */
    double low, high;
};

/* Times of two sides, by pair of blocks. */
struct sg_bench_comparison {
    struct sg_bench_summary ours;
    struct sg_bench_summary stock;
    struct sg_bench_summary ratio; /* ours divided by stock, pair by pair */
};

/* Returns the k above, from 1; 1 if there is none. count at least 1. */
size_t sg_bench_interval_rank(size_t count);
/* Returns the median with its interval. Sorts values; count at least 1. */
struct sg_bench_summary sg_bench_summarize(double *values, size_t count);
/* Compares ours[i] with stock[i], a pair of blocks; no stock[i] is below 0. If a pair's stock is 0,
 * its ratio is infinity, or 1 if both are 0. Sorts ours and stock; scratch holds count values.
 * count at least 1. */
struct sg_bench_comparison sg_bench_compare(double *ours, double *stock, double *scratch,
                                            size_t count);

/* ---- the spread of values ---- */

struct sg_bench_distribution {
    size_t count;
    struct sg_bench_summary median; /* with its 95 % interval */
    double least, mean, p95, p99, most;
    /* Number of values further from the nearer quartile than three times the distance between the
     * quartiles. The other figures include them. */
    size_t outliers;
};

/* Returns the spread of values. Sorts values; count at least 1. */
struct sg_bench_distribution sg_bench_distribute(double *values, size_t count);
/* Returns the quantile `part` (0 to 1) of sorted values; linear between two values. */
double sg_bench_quantile(const double *sorted, size_t count, double part);

/* ---- when to stop ---- */

/* Fewer values may be close together by chance. */
#define SG_BENCH_ENOUGH_MIN 30
#define SG_BENCH_HALF_WIDTH 0.02

/* Returns true if the interval of the median is narrow: at most SG_BENCH_HALF_WIDTH of the median
 * to either side. Ask at counts that grow by half or more each time: asked after each value, it
 * becomes true too early, by chance. Sorts values. */
bool sg_bench_is_enough(double *values, size_t count);

/* ---- several launches ---- */

struct sg_bench_pool {
    size_t launches;
    struct sg_bench_distribution all; /* samples of all launches together */
    struct sg_bench_summary launch;   /* the launches' medians, each one value */
};

/* samples: launch after launch, counts[launch] of each; every count at least 1. Sorts the samples.
 * medians: scratch for `launches` values. */
struct sg_bench_pool sg_bench_pool(double *samples, const size_t *counts, size_t launches,
                                   double *medians);

/* ---- order ---- */

/* Fills order with the numbers below count, in an order that depends only on seed and round. */
void sg_bench_shuffle(uint64_t seed, uint64_t round, int count, int *order);

/* ---- times of calls: each rank's entry and exit, on one clock
 *
 * On rank 0; not thread-safe.
 */

/* The first five are those of paper 004, section 1.2. */
enum sg_bench_reduction {
    SG_BENCH_REDUCE_ROOT,   /* the time at the root */
    SG_BENCH_REDUCE_MAX,    /* the longest of any rank */
    SG_BENCH_REDUCE_SPAN,   /* from the first rank's entry to the last rank's exit */
    SG_BENCH_REDUCE_MEAN,   /* the average over the ranks */
    SG_BENCH_REDUCE_MIN,    /* the shortest of any rank */
    SG_BENCH_REDUCE_MEDIAN, /* the median over the ranks; of an even number the lower of the two */
    SG_BENCH_REDUCTIONS
};

extern const char *const sg_bench_reduction_names[SG_BENCH_REDUCTIONS + 1]; /* ends with NULL */

/* The times of one rank in one call. */
struct sg_bench_times {
    uint64_t entry_ns, exit_ns; /* on rank 0's clock */
    double processor_ns;        /* 0: not measured */
    double overhead_ns;         /* from sg_bench_target.details; 0: it has none */
    double waited_ns;
    uint64_t flags; /* enum sg_bench_flag */
};

enum sg_bench_flag {
    SG_BENCH_STARTED_LATE = 1,  /* began later than planned */
    SG_BENCH_TOOK_TOO_LONG = 2, /* was not ready for the next window */
    SG_BENCH_WRONG = 4          /* has a wrong result */
};

/* Reduces the ranks' times of one call to one number, in ns. */
double sg_bench_reduced_ns(const struct sg_bench_times *ranks, int count,
                           enum sg_bench_reduction reduction, int root);
/* Returns the time from the last entry to the last exit (paper 002, section 5.3). */
double sg_bench_delay_ns(const struct sg_bench_times *ranks, int count);
/* Returns the time from the first entry to the last. */
double sg_bench_skew_ns(const struct sg_bench_times *ranks, int count);
/* Returns the average over the ranks. */
double sg_bench_processor_ns(const struct sg_bench_times *ranks, int count);
/* Returns true if some rank left before another arrived, by more than the error of their clocks. */
bool sg_bench_left_early(const struct sg_bench_times *ranks, int count, uint64_t error_ns);

/* The rounds that count, each with a call of every variant. Zeroed: none. */
struct sg_bench_samples {
    int ranks, variants;
    size_t rounds, room;
    struct sg_bench_times *times; /* by round, variant, rank */
    uint64_t *numbers;            /* number of each round; arrivals depend on it */
    uint64_t attempts;            /* calls made */
    /* Calls in which a rank was flagged; they are repeated, and not in `times`. */
    uint64_t started_late;
    uint64_t took_too_long;
    uint64_t kept_flagged;   /* flagged rounds kept for lack of others */
    uint64_t window_ns;      /* the last window; 0: a scheme without windows */
    uint64_t clock_error_ns; /* the largest error bound of any rank's clock */
    bool enough;             /* sampling ended because the intervals were narrow */
    int wrong_variant;       /* -1: all results were right */
};

/* Returns the ranks' times in one call. */
const struct sg_bench_times *sg_bench_samples_at(const struct sg_bench_samples *samples,
                                                 size_t round, int variant);
/* Adds a round, by variant and rank, for the caller to fill in. NULL: out of memory (logged). */
struct sg_bench_times *sg_bench_samples_add(struct sg_bench_samples *samples, uint64_t number);
void sg_bench_samples_clear(struct sg_bench_samples *samples);

#endif
