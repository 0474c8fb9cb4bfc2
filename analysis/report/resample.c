#include "report/resample.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

void sg_resample_interval(double *drawn, int count, double outside, double *low, double *high)
{
    int first = (int)(outside * count);

    qsort(drawn, (size_t)count, sizeof *drawn, compare);
    *low = drawn[first];
    *high = drawn[count - 1 - first];
}
