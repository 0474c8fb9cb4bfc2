/* What is told of values: medians and their 95 % intervals, without an assumption about the
 * distribution; how values are spread, when there are enough of them, and what several launches of
 * a program say together.
 *
 * The interval of a median is that of order statistics: of n values in order, the k-th from either
 * end, where k is the greatest for which the binomial distribution (n, 1/2) keeps at least 95 %
 * between. Below six values no such k exists, and the interval is all there is: least to greatest.
 *
 * Pure functions but for the arrays, which are sorted in place; thread-safe.
 */
#ifndef SG_BENCH_STATISTICS_H
#define SG_BENCH_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The fewest values that have a 95 % interval. */
#define SG_BENCH_COUNT_MIN 6

struct sg_bench_summary {
    double median; /* of an even count the mean of the middle two */
    double low, high;
};

/* What two sides took in the same blocks. */
struct sg_bench_comparison {
    struct sg_bench_summary ours;
    struct sg_bench_summary stock;
    struct sg_bench_summary ratio; /* of each block's ours to its stock */
};

/* The k above, from 1; 1 where there is none. count at least 1. */
size_t sg_bench_interval_rank(size_t count);

/* Sorts values; count at least 1. */
struct sg_bench_summary sg_bench_summarize(double *values, size_t count);

/* ours[i] and stock[i] are of one pair of blocks, and no stock[i] is below 0. A pair whose stock is
 * 0 has the ratio infinity, or 1 where both are 0. Sorts ours and stock; scratch holds count
 * values. count at least 1. */
struct sg_bench_comparison sg_bench_compare(double *ours, double *stock, double *scratch,
                                            size_t count);

/* ---- how values are spread ---- */

struct sg_bench_distribution {
    size_t count;
    struct sg_bench_summary median; /* with its 95 % interval */
    double least, mean, p95, p99, most;
    /* Values further than three times the distance between the quartiles from either of them. They
     * are counted, and stay in. */
    size_t outliers;
};

/* Sorts values; count at least 1. */
struct sg_bench_distribution sg_bench_distribute(double *values, size_t count);

/* Of sorted values, the one that the part (0 to 1) does not exceed; linear between two. */
double sg_bench_quantile(const double *sorted, size_t count, double part);

/* ---- when to stop ---- */

/* Fewer values may lie together by chance. */
#define SG_BENCH_ENOUGH_MIN 30
#define SG_BENCH_HALF_WIDTH 0.02

/* Whether the interval of the median is narrow enough: at most SG_BENCH_HALF_WIDTH of the median to
 * either side. To be asked at counts that grow by half or more each time: an answer that is asked
 * for after each value comes too early. Sorts values. */
bool sg_bench_is_enough(double *values, size_t count);

/* ---- several launches ---- */

struct sg_bench_pool {
    size_t launches;
    struct sg_bench_distribution all; /* of the samples of all launches together */
    struct sg_bench_summary launch;   /* of the launches' medians, each one value */
};

/* samples: the launches' one behind the other, counts[launch] of each; every count at least 1. They
 * are sorted. medians is scratch for as many values as there are launches. */
struct sg_bench_pool sg_bench_pool(double *samples, const size_t *counts, size_t launches,
                                   double *medians);

/* ---- order ---- */

/* The numbers below count in an order of chance: the same for the same seed and round, everywhere.
 */
void sg_bench_shuffle(uint64_t seed, uint64_t round, int count, int *order);

#endif
