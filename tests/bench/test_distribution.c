/* Tests distributions, the stop rule, pooling and order. */
#include "bench/distribution.h"
#include "lib/unit.h"

#include <math.h>

TEST("quantiles, mean and outliers are those worked out by hand, and nothing is dropped")
{
    double values[100];
    struct sg_bench_distribution found;

    for (int i = 0; i < 100; i++)
        values[i] = (i * 37) % 100 + 1; /* 1 to 100, in no order */
    found = sg_bench_distribute(values, 100);
    EXPECT(found.count == 100, found.median.median == 50.5, found.median.low == 40,
           found.median.high == 61, found.least == 1, found.most == 100,
           is_near(found.mean, 50.5, 1e-9), is_near(found.p95, 95.05, 1e-9),
           is_near(found.p99, 99.01, 1e-9), found.outliers == 0);
    values[0] = -1000;
    values[99] = 1000;
    found = sg_bench_distribute(values, 100);
    EXPECT(found.outliers == 2);
    EXPECT(found.least == -1000); /* told, not dropped */
    EXPECT(found.most == 1000, sg_bench_distribute(values, 1).p99 == -1000);
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

TEST("two runs agree within their intervals 19 times in 20, and a 10 % change is found")
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
        EXPECT(count >= SG_BENCH_ENOUGH_MIN && count < 2000);
    }
    EXPECT(agree >= PAIRS * 19 / 20);
    EXPECT(held >= PAIRS * 90 / 100); /* stopping early costs some of the 95 */
    EXPECT(told_apart >= PAIRS * 19 / 20);
}

TEST("sampling ends at narrow intervals, after at least thirty values")
{
    double narrow[40], few[29], wide[40];

    for (int i = 0; i < 40; i++) {
        narrow[i] = 100 + i * 0.05;
        wide[i] = 100 + i;
    }
    for (int i = 0; i < 29; i++)
        few[i] = 100;
    EXPECT(sg_bench_is_enough(narrow, 40), !sg_bench_is_enough(few, 29),
           !sg_bench_is_enough(wide, 40));
}

/* Launches differ by more than their own intervals say: the launches' medians tell. */
TEST("launches are pooled, and the spread between them counts each once")
{
    double samples[] = {10, 11, 12, 20, 21, 22, 23, 24, 5}, medians[3];
    size_t counts[] = {3, 5, 1};
    struct sg_bench_pool pool = sg_bench_pool(samples, counts, 3, medians);

    EXPECT(pool.launches == 3, pool.all.count == 9, pool.all.median.median == 20,
           pool.all.least == 5, pool.launch.median == 11, pool.launch.low == 5,
           pool.launch.high == 22);
}

TEST("all orders are equally likely, and a seed and round give one order")
{
    int first[6] = {0}, order[6], again[6];

    for (uint64_t round = 0; round < 6000; round++) {
        bool seen[6] = {false};

        sg_bench_shuffle(42, round, 6, order);
        sg_bench_shuffle(42, round, 6, again);
        EXPECT(memcmp(order, again, sizeof order) == 0);
        for (int i = 0; i < 6; i++)
            seen[order[i]] = true;
        for (int i = 0; i < 6; i++)
            EXPECT(seen[i]);
        first[order[0]]++;
    }
    for (int i = 0; i < 6; i++)
        EXPECT(first[i] > 850 && first[i] < 1150);
    sg_bench_shuffle(43, 5, 6, again);
    sg_bench_shuffle(42, 5, 6, order);
    EXPECT(memcmp(order, again, sizeof order) != 0);
}
