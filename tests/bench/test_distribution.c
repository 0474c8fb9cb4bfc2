/* Tests distributions, the stop rule, pooling and order. */
#include "bench/distribution.h"
#include "lib/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void test_distribution(void)
{
    double values[100];
    struct sg_bench_distribution found;

    for (int i = 0; i < 100; i++)
        values[i] = (i * 37) % 100 + 1; /* 1 to 100, in no order */
    found = sg_bench_distribute(values, 100);
    CU_ASSERT_EQUAL(found.count, 100);
    CU_ASSERT_EQUAL(found.median.median, 50.5);
    CU_ASSERT_EQUAL(found.median.low, 40);
    CU_ASSERT_EQUAL(found.median.high, 61);
    CU_ASSERT_EQUAL(found.least, 1);
    CU_ASSERT_EQUAL(found.most, 100);
    CU_ASSERT_DOUBLE_EQUAL(found.mean, 50.5, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(found.p95, 95.05, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(found.p99, 99.01, 1e-9);
    CU_ASSERT_EQUAL(found.outliers, 0);
    values[0] = -1000;
    values[99] = 1000;
    found = sg_bench_distribute(values, 100);
    CU_ASSERT_EQUAL(found.outliers, 2);
    CU_ASSERT_EQUAL(found.least, -1000); /* told, not dropped */
    CU_ASSERT_EQUAL(found.most, 1000);
    CU_ASSERT_EQUAL(sg_bench_distribute(values, 1).p99, -1000);
}

/* A machine as we know them: a log-normal body, a wave of slowness that comes and goes, and in 1 of
 * 50 calls an interruption. */
static double noisy(unsigned short seed[3], int call)
{
    double body = 10 * exp(0.1 * sqrt(-2 * log(1 - erand48(seed))) * cos(6.283185 * erand48(seed)));

    body *= 1 + 0.01 * sin(call / 7.0);
    return erand48(seed) < 0.02 ? body + 40 * erand48(seed) : body;
}

/* As many calls as the stop rule asks for. */
static struct sg_bench_summary measure(unsigned short seed[3], double factor, size_t *count)
{
    static double values[100000];
    static double kept[100000];
    size_t have = 0, next = 10;

    for (;;) {
        while (have < next) {
            values[have] = kept[have] = factor * noisy(seed, (int)have);
            have++;
        }
        if (sg_bench_is_enough(values, have))
            break;
        memcpy(values, kept, have * sizeof *values);
        next = have + have / 2 + 10;
    }
    *count = have;
    return sg_bench_summarize(values, have);
}

static void test_agreement(void)
{
    enum { PAIRS = 1000 };
    unsigned short seed[3] = {7, 8, 9};
    int agree = 0, held = 0, told_apart = 0;

    for (int i = 0; i < PAIRS; i++) {
        size_t count;
        struct sg_bench_summary one = measure(seed, 1, &count), other = measure(seed, 1, &count);
        struct sg_bench_summary slower = measure(seed, 1.1, &count);

        agree += one.low <= other.high && other.low <= one.high;
        /* The model's own median: interruptions move the body's, 10, by a fiftieth's worth. */
        held += one.low <= 10.025 && one.high >= 10.025;
        told_apart += one.high < slower.low;
        CU_ASSERT(count >= SG_BENCH_ENOUGH_MIN && count < 2000);
    }
    CU_ASSERT(agree >= PAIRS * 19 / 20);
    CU_ASSERT(held >= PAIRS * 90 / 100); /* stopping early costs some of the 95 */
    CU_ASSERT(told_apart >= PAIRS * 19 / 20);
}

static void test_enough(void)
{
    double narrow[40], few[29], wide[40];

    for (int i = 0; i < 40; i++) {
        narrow[i] = 100 + i * 0.05;
        wide[i] = 100 + i;
    }
    for (int i = 0; i < 29; i++)
        few[i] = 100;
    CU_ASSERT_TRUE(sg_bench_is_enough(narrow, 40));
    CU_ASSERT_FALSE(sg_bench_is_enough(few, 29));
    CU_ASSERT_FALSE(sg_bench_is_enough(wide, 40));
}

/* Launches differ by more than their own intervals say: the launches' medians tell. */
static void test_pool(void)
{
    double samples[] = {10, 11, 12, 20, 21, 22, 23, 24, 5}, medians[3];
    size_t counts[] = {3, 5, 1};
    struct sg_bench_pool pool = sg_bench_pool(samples, counts, 3, medians);

    CU_ASSERT_EQUAL(pool.launches, 3);
    CU_ASSERT_EQUAL(pool.all.count, 9);
    CU_ASSERT_EQUAL(pool.all.median.median, 20);
    CU_ASSERT_EQUAL(pool.all.least, 5);
    CU_ASSERT_EQUAL(pool.launch.median, 11);
    CU_ASSERT_EQUAL(pool.launch.low, 5);
    CU_ASSERT_EQUAL(pool.launch.high, 22);
}

static void test_shuffle(void)
{
    int first[6] = {0}, order[6], again[6];

    for (uint64_t round = 0; round < 6000; round++) {
        bool seen[6] = {false};

        sg_bench_shuffle(42, round, 6, order);
        sg_bench_shuffle(42, round, 6, again);
        CU_ASSERT_EQUAL(memcmp(order, again, sizeof order), 0);
        for (int i = 0; i < 6; i++)
            seen[order[i]] = true;
        for (int i = 0; i < 6; i++)
            CU_ASSERT_TRUE(seen[i]);
        first[order[0]]++;
    }
    for (int i = 0; i < 6; i++)
        CU_ASSERT(first[i] > 850 && first[i] < 1150);
    sg_bench_shuffle(43, 5, 6, again);
    sg_bench_shuffle(42, 5, 6, order);
    CU_ASSERT_NOT_EQUAL(memcmp(order, again, sizeof order), 0);
}

const struct unit_test unit_tests[] = {
    {"quantiles, mean and outliers are those worked out, and nothing is dropped",
     test_distribution},
    {"two runs agree within their intervals 19 times in 20, and 10 % are told apart",
     test_agreement},
    {"narrow intervals are enough, of thirty values at least", test_enough},
    {"launches are pooled, and each counts once for the spread between them", test_pool},
    {"each order is as likely, and the same for the same seed and round", test_shuffle},
    {NULL, NULL},
};
