#include "bench/summary.h"

#include <math.h>
#include <stdlib.h>

/* What may lie beyond either end of an interval. */
#define TAIL 0.025

size_t sg_bench_interval_rank(size_t count)
{
    double n = (double)count;
    double log_part = -n * log(2); /* by logarithms: 2^-n is out of range from n = 1075 on */
    double below = exp(log_part);  /* probability that at most k values lie below the median */
    size_t k = 0;

    while (k < count / 2 && below <= TAIL) {
        k++;
        log_part += log((n - (double)k + 1) / (double)k);
        below += exp(log_part);
    }
    return k > 0 ? k : 1;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

struct sg_bench_summary sg_bench_summarize(double *values, size_t count)
{
    size_t rank = sg_bench_interval_rank(count);
    size_t middle = count / 2;
    struct sg_bench_summary summary;

    qsort(values, count, sizeof *values, compare);
    summary.median = count % 2 != 0 ? values[middle] : values[middle - 1] / 2 + values[middle] / 2;
    summary.low = values[rank - 1];
    summary.high = values[count - rank];
    return summary;
}

static double ratio_of(double ours, double stock)
{
    if (stock > 0)
        return ours / stock;
    return ours > 0 ? INFINITY : 1;
}

struct sg_bench_comparison sg_bench_compare(double *ours, double *stock, double *scratch,
                                            size_t count)
{
    struct sg_bench_comparison comparison;

    /* Before the sides are sorted, each by itself. */
    for (size_t i = 0; i < count; i++)
        scratch[i] = ratio_of(ours[i], stock[i]);
    comparison.ratio = sg_bench_summarize(scratch, count);
    comparison.ours = sg_bench_summarize(ours, count);
    comparison.stock = sg_bench_summarize(stock, count);
    return comparison;
}
