/* Medians and their 95 % intervals, without an assumption about the distribution.
 *
 * The interval of a median is that of order statistics: of n values in order, the k-th from either
 * end, where k is the greatest for which the binomial distribution (n, 1/2) keeps at least 95 %
 * between. Below six values no such k exists, and the interval is all there is: least to greatest.
 *
 * Pure functions but for the arrays, which are sorted in place; thread-safe.
 */
#ifndef SG_BENCH_SUMMARY_H
#define SG_BENCH_SUMMARY_H

#include <stddef.h>

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

#endif
