/* Tests that the limits give sound figures, and none for one processor. No figure is asserted. */
#include "bench/limits.h"
#include "lib/unit.h"

#include <math.h>

TEST("the limits are positive")
{
    struct sg_bench_limits limits;
    cpu_set_t own;

    ASSERT(sched_getaffinity(0, sizeof own, &own) == 0);
    sg_bench_limits_measure(&own, 2, &limits);
    EXPECT(isfinite(limits.copy_gbs) && limits.copy_gbs > 0);
    if (CPU_COUNT(&own) < 2)
        return;
    EXPECT(isfinite(limits.line_ns) && limits.line_ns > 0,
           isfinite(limits.copy_ns) && limits.copy_ns >= 0,
           isfinite(limits.fold_ns) && limits.fold_ns >= 0);
}

TEST("a single processor has no cache-line latency to another")
{
    struct sg_bench_limits limits;
    cpu_set_t own, one, after;

    ASSERT(sched_getaffinity(0, sizeof own, &own) == 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
        if (CPU_ISSET(i, &own))
            CPU_SET(i, &one);
    }
    sg_bench_limits_measure(&one, 2, &limits);
    EXPECT(isnan(limits.line_ns) && isnan(limits.copy_ns) && isnan(limits.fold_ns),
           limits.copy_gbs > 0, sched_getaffinity(0, sizeof after, &after) == 0,
           CPU_EQUAL(&own, &after));
}

/* Processors that are not there: the second thread cannot start, or the first. */
TEST("unavailable processors give no figure")
{
    struct sg_bench_limits limits;
    cpu_set_t own, beyond;

    ASSERT(sched_getaffinity(0, sizeof own, &own) == 0);
    CPU_ZERO(&beyond);
    CPU_SET(CPU_SETSIZE - 2, &beyond);
    CPU_SET(CPU_SETSIZE - 1, &beyond);
    sg_bench_limits_measure(&beyond, 2, &limits);
    EXPECT(isnan(limits.line_ns), isnan(limits.copy_gbs));
    CPU_CLR(CPU_SETSIZE - 2, &beyond);
    for (int i = 0; i < CPU_SETSIZE - 1 && CPU_COUNT(&beyond) == 1; i++) {
        if (CPU_ISSET(i, &own))
            CPU_SET(i, &beyond);
    }
    sg_bench_limits_measure(&beyond, 2, &limits);
    EXPECT(isnan(limits.line_ns), isnan(limits.copy_gbs));
}
