/* Tests medians, their intervals, and ratios of paired blocks. */
#include "bench/distribution.h"
#include "lib/unit.h"

#include <math.h>

#define NEAR 1e-12

TEST("the median of an even count is the mean of the middle two")
{
    double one[] = {7}, odd[] = {50, 30, 10, 40, 20}, even[] = {4, 1, 3, 2};

    EXPECT(sg_bench_summarize(one, 1).median == 7, sg_bench_summarize(odd, 5).median == 30,
           sg_bench_summarize(even, 4).median == 2.5);
}

/* From a table of sign test intervals. */
TEST("the interval's order statistics are those of the sign test")
{
    static const struct {
        size_t count, rank;
    } known[] = {{6, 1},  {8, 1},  {9, 2},   {11, 2},  {12, 3},  {15, 4},  {17, 5},
                 {20, 6}, {25, 8}, {30, 10}, {40, 14}, {50, 18}, {70, 27}, {100, 40}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        EXPECT(sg_bench_interval_rank(known[i].count) == known[i].rank);
    for (size_t count = 1; count < SG_BENCH_COUNT_MIN; count++)
        EXPECT(sg_bench_interval_rank(count) == 1);
}

/* For many values the k-th is 0.98 roots of n from the middle, as the normal distribution has it.
 */
TEST("the order statistics of many values are the normal distribution's")
{
    for (size_t count = 500; count <= 50000; count *= 10) {
        double n = (double)count;
        double expected = n / 2 - 0.98 * sqrt(n);

        EXPECT(is_near((double)sg_bench_interval_rank(count), expected, 1.5));
    }
}

TEST("an interval excludes extreme order statistics, unless there are few values")
{
    double nine[] = {9, 1, 8, 2, 7, 3, 6, 4, 5}, three[] = {3, 1, 2};
    struct sg_bench_summary summary = sg_bench_summarize(nine, 9);

    EXPECT(summary.low == 2, summary.median == 5, summary.high == 8);
    summary = sg_bench_summarize(three, 3);
    EXPECT(summary.low == 1, summary.high == 3);
}

/* Draws samples of 21 from a distribution with median 0 and a long tail, with a fixed seed: about
 * 97 of 100 intervals must hold it (k = 6 keeps 97.3 %). */
TEST("an interval contains the median at its stated confidence")
{
    enum { SAMPLES = 4000, COUNT = 21 };
    unsigned short seed[3] = {1, 2, 3};
    int held = 0;

    for (int i = 0; i < SAMPLES; i++) {
        double values[COUNT];

        for (int j = 0; j < COUNT; j++)
            values[j] = pow(2 * erand48(seed), 8) - 1;
        struct sg_bench_summary summary = sg_bench_summarize(values, COUNT);
        held += summary.low <= 0 && summary.high >= 0;
    }
    EXPECT(held > SAMPLES * 0.96, held < SAMPLES * 0.985);
}

/* A machine that gets slower from pair to pair: the sides spread, the ratio does not. */
TEST("a drift of both sides does not change the ratio")
{
    double ours[8], stock[8], scratch[8];

    for (int i = 0; i < 8; i++) {
        /* Not in order, so that sorting one side alone would part the pairs. */
        int step = i * 3 % 8 + 1;

        stock[i] = 100 * step;
        ours[i] = 25 * step;
    }
    struct sg_bench_comparison comparison = sg_bench_compare(ours, stock, scratch, 8);
    EXPECT(is_near(comparison.ratio.median, 0.25, NEAR), is_near(comparison.ratio.low, 0.25, NEAR),
           is_near(comparison.ratio.high, 0.25, NEAR), comparison.ours.median == 112.5,
           comparison.ours.low == 25, comparison.stock.high == 800);
}

/* The median of the ratios, not the ratio of the medians. */
TEST("the ratio is computed from pairs")
{
    double ours[] = {1, 2, 30}, stock[] = {10, 4, 40}, scratch[3];
    struct sg_bench_comparison comparison = sg_bench_compare(ours, stock, scratch, 3);

    EXPECT(comparison.ratio.median == 0.5, comparison.ours.median == 2,
           comparison.stock.median == 10);
}

TEST("a side that spends nothing still has a ratio")
{
    double ours[] = {0, 0, 5, 5, 5}, stock[] = {0, 2, 0, 0, 0}, scratch[5];
    struct sg_bench_comparison comparison = sg_bench_compare(ours, stock, scratch, 5);

    EXPECT(comparison.ratio.low == 0, isinf(comparison.ratio.median), scratch[1] == 1);
}
