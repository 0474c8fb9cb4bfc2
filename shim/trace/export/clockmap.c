#include "trace/export/clockmap.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define TIME_LIMIT_NS ((int64_t)1 << 62)
#define DRIFT_LIMIT 0.01

static int by_time(const void *a, const void *b)
{
    const struct sg_clock_point *left = a;
    const struct sg_clock_point *right = b;

    return (left->local_ns > right->local_ns) - (left->local_ns < right->local_ns);
}

static bool is_sane(const struct sg_clock_point *point)
{
    return point->local_ns < (uint64_t)TIME_LIMIT_NS && point->offset_ns > -TIME_LIMIT_NS &&
           point->offset_ns < TIME_LIMIT_NS && (int64_t)point->local_ns + point->offset_ns >= 0;
}

static double slope(const struct sg_clock_point *from, const struct sg_clock_point *to)
{
    return (double)(to->offset_ns - from->offset_ns) / (double)(to->local_ns - from->local_ns);
}

size_t sg_clock_sanitize(struct sg_clock_point *points, size_t count)
{
    size_t kept = 0;

    if (count > 1)
        qsort(points, count, sizeof *points, by_time);
    for (size_t i = 0; i < count; i++) {
        if (!is_sane(&points[i]))
            continue;
        if (kept > 0 && (points[i].local_ns == points[kept - 1].local_ns ||
                         fabs(slope(&points[kept - 1], &points[i])) > DRIFT_LIMIT))
            continue;
        points[kept++] = points[i];
    }
    return kept;
}

uint64_t sg_clock_global(const struct sg_clock_point *points, size_t count, uint64_t local_ns)
{
    const struct sg_clock_point *from = points;
    double passed_ns;

    if (count == 1)
        return local_ns + (uint64_t)from->offset_ns;
    while (from + 2 < points + count && local_ns > from[1].local_ns)
        from++;
    passed_ns = local_ns >= from->local_ns ? (double)(local_ns - from->local_ns)
                                           : -(double)(from->local_ns - local_ns);
    return local_ns +
           (uint64_t)(from->offset_ns + (int64_t)rint(slope(from, from + 1) * passed_ns));
}
