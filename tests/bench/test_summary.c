/* Tests medians, their intervals, and ratios of paired blocks. */
#include "bench/distribution.h"
#include "lib/unit.h"

#include <math.h>
#include <stdlib.h>

#define NEAR 1e-12

static void test_median(void)
{
    double one[] = {7}, odd[] = {50, 30, 10, 40, 20}, even[] = {4, 1, 3, 2};

    CU_ASSERT_EQUAL(sg_bench_summarize(one, 1).median, 7);
    CU_ASSERT_EQUAL(sg_bench_summarize(odd, 5).median, 30);
    CU_ASSERT_EQUAL(sg_bench_summarize(even, 4).median, 2.5);
}

/* From a table of sign test intervals. */
static void test_ranks(void)
{
    static const struct {
        size_t count, rank;
    } known[] = {{6, 1},  {8, 1},  {9, 2},   {11, 2},  {12, 3},  {15, 4},  {17, 5},
                 {20, 6}, {25, 8}, {30, 10}, {40, 14}, {50, 18}, {70, 27}, {100, 40}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        CU_ASSERT_EQUAL(sg_bench_interval_rank(known[i].count), known[i].rank);
    for (size_t count = 1; count < SG_BENCH_COUNT_MIN; count++)
        CU_ASSERT_EQUAL(sg_bench_interval_rank(count), 1);
}

/* For many values the k-th is 0.98 roots of n from the middle, as the normal distribution has it.
 */
static void test_ranks_of_many(void)
{
    for (size_t count = 500; count <= 50000; count *= 10) {
        double n = (double)count;
        double expected = n / 2 - 0.98 * sqrt(n);

        CU_ASSERT_DOUBLE_EQUAL((double)sg_bench_interval_rank(count), expected, 1.5);
    }
}

static void test_interval(void)
{
    double nine[] = {9, 1, 8, 2, 7, 3, 6, 4, 5}, three[] = {3, 1, 2};
    struct sg_bench_summary summary = sg_bench_summarize(nine, 9);

    CU_ASSERT_EQUAL(summary.low, 2);
    CU_ASSERT_EQUAL(summary.median, 5);
    CU_ASSERT_EQUAL(summary.high, 8);
    summary = sg_bench_summarize(three, 3);
    CU_ASSERT_EQUAL(summary.low, 1);
    CU_ASSERT_EQUAL(summary.high, 3);
}

/* Draws samples of 21 from a distribution with median 0 and a long tail, with a fixed seed: about
 * 97 of 100 intervals must hold it (k = 6 keeps 97.3 %). */
static void test_coverage(void)
{
    enum { SAMPLES = 4000, COUNT = 21 };
    unsigned short seed[3] = {1, 2, 3};
    int held = 0;

    for (int i = 0; i < SAMPLES; i++) {
        double values[COUNT];
        struct sg_bench_summary summary;

        for (int j = 0; j < COUNT; j++)
            values[j] = pow(2 * erand48(seed), 8) - 1;
        summary = sg_bench_summarize(values, COUNT);
        held += summary.low <= 0 && summary.high >= 0;
    }
    CU_ASSERT(held > SAMPLES * 0.96);
    CU_ASSERT(held < SAMPLES * 0.985);
}

/* A machine that gets slower from pair to pair: the sides spread, the ratio does not. */
static void test_pairing(void)
{
    double ours[8], stock[8], scratch[8];
    struct sg_bench_comparison comparison;

    for (int i = 0; i < 8; i++) {
        /* Not in order, so that sorting one side alone would part the pairs. */
        int step = i * 3 % 8 + 1;

        stock[i] = 100 * step;
        ours[i] = 25 * step;
    }
    comparison = sg_bench_compare(ours, stock, scratch, 8);
    CU_ASSERT_DOUBLE_EQUAL(comparison.ratio.median, 0.25, NEAR);
    CU_ASSERT_DOUBLE_EQUAL(comparison.ratio.low, 0.25, NEAR);
    CU_ASSERT_DOUBLE_EQUAL(comparison.ratio.high, 0.25, NEAR);
    CU_ASSERT_EQUAL(comparison.ours.median, 112.5);
    CU_ASSERT_EQUAL(comparison.ours.low, 25);
    CU_ASSERT_EQUAL(comparison.stock.high, 800);
}

/* The median of the ratios, not the ratio of the medians. */
static void test_ratio_of_pairs(void)
{
    double ours[] = {1, 2, 30}, stock[] = {10, 4, 40}, scratch[3];
    struct sg_bench_comparison comparison = sg_bench_compare(ours, stock, scratch, 3);

    CU_ASSERT_EQUAL(comparison.ratio.median, 0.5);
    CU_ASSERT_EQUAL(comparison.ours.median, 2);
    CU_ASSERT_EQUAL(comparison.stock.median, 10);
}

static void test_nothing_spent(void)
{
    double ours[] = {0, 0, 5, 5, 5}, stock[] = {0, 2, 0, 0, 0}, scratch[5];
    struct sg_bench_comparison comparison = sg_bench_compare(ours, stock, scratch, 5);

    CU_ASSERT_EQUAL(comparison.ratio.low, 0);
    CU_ASSERT(isinf(comparison.ratio.median));
    CU_ASSERT_EQUAL(scratch[1], 1);
}

const struct unit_test unit_tests[] = {
    {"the median of an even count is the mean of the middle two", test_median},
    {"the interval's order statistics are those of the sign test", test_ranks},
    {"of many values they are the normal distribution's", test_ranks_of_many},
    {"an interval leaves out what may lie beyond, and nothing of a few values", test_interval},
    {"an interval holds the median as often as it says", test_coverage},
    {"a drift of both sides does not touch the ratio", test_pairing},
    {"the ratio is the pairs'", test_ratio_of_pairs},
    {"a side that spends nothing has a ratio all the same", test_nothing_spent},
    {NULL, NULL},
};
