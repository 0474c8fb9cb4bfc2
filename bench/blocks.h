/* Times blocks of calls and takes the median of several blocks. */
#ifndef SG_TESTS_MPI_BLOCKS_H
#define SG_TESTS_MPI_BLOCKS_H

#include <stdlib.h>
#include <time.h>

static inline double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts the values; returns the greater middle one of an even number. */
static inline double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

#endif
