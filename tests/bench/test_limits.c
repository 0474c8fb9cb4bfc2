/* Tests that the limits give sound figures, and none for one processor. No figure is asserted. */
#include "bench/limits.h"
#include "lib/unit.h"

#include <math.h>

static void test_all(void)
{
    struct sg_bench_limits limits;
    cpu_set_t own;

    CU_ASSERT_EQUAL_FATAL(sched_getaffinity(0, sizeof own, &own), 0);
    sg_bench_limits_measure(&own, 2, &limits);
    CU_ASSERT(isfinite(limits.copy_gbs) && limits.copy_gbs > 0);
    if (CPU_COUNT(&own) < 2)
        return;
    CU_ASSERT(isfinite(limits.line_ns) && limits.line_ns > 0);
    CU_ASSERT(isfinite(limits.copy_ns) && limits.copy_ns >= 0);
    CU_ASSERT(isfinite(limits.fold_ns) && limits.fold_ns >= 0);
}

static void test_one_processor(void)
{
    struct sg_bench_limits limits;
    cpu_set_t own, one, after;

    CU_ASSERT_EQUAL_FATAL(sched_getaffinity(0, sizeof own, &own), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
        if (CPU_ISSET(i, &own))
            CPU_SET(i, &one);
    }
    sg_bench_limits_measure(&one, 2, &limits);
    CU_ASSERT(isnan(limits.line_ns) && isnan(limits.copy_ns) && isnan(limits.fold_ns));
    CU_ASSERT(limits.copy_gbs > 0);
    CU_ASSERT_EQUAL(sched_getaffinity(0, sizeof after, &after), 0);
    CU_ASSERT(CPU_EQUAL(&own, &after));
}

/* Processors that are not there: the second thread cannot start, or the first. */
static void test_missing_processors(void)
{
    struct sg_bench_limits limits;
    cpu_set_t own, beyond;

    CU_ASSERT_EQUAL_FATAL(sched_getaffinity(0, sizeof own, &own), 0);
    CPU_ZERO(&beyond);
    CPU_SET(CPU_SETSIZE - 2, &beyond);
    CPU_SET(CPU_SETSIZE - 1, &beyond);
    sg_bench_limits_measure(&beyond, 2, &limits);
    CU_ASSERT(isnan(limits.line_ns));
    CU_ASSERT(isnan(limits.copy_gbs));
    CPU_CLR(CPU_SETSIZE - 2, &beyond);
    for (int i = 0; i < CPU_SETSIZE - 1 && CPU_COUNT(&beyond) == 1; i++) {
        if (CPU_ISSET(i, &own))
            CPU_SET(i, &beyond);
    }
    sg_bench_limits_measure(&beyond, 2, &limits);
    CU_ASSERT(isnan(limits.line_ns));
    CU_ASSERT(isnan(limits.copy_gbs));
}

const struct unit_test unit_tests[] = {
    {"the limits are positive", test_all},
    {"one processor has no way to another", test_one_processor},
    {"processors that cannot be had give no figure", test_missing_processors},
    {NULL, NULL},
};
