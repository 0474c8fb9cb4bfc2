/* Tests series of samples in bounded memory, and the intervals drawn from them. */
#include "compare/compared_samples.h"
#include "lib/unit.h"
#include "sim/random.h"

#include <math.h>

static void add(struct sg_series *series, uint64_t calls, uint64_t blocked_ns, uint64_t wait_ns)
{
    struct sg_sample sample = {.calls = calls, .ns = {blocked_ns, wait_ns, blocked_ns}};

    ASSERT(sg_series_add(series, &sample) == SG_OK);
}

TEST("a series keeps each instance up to its capacity")
{
    struct sg_series series = {0};

    for (uint64_t i = 0; i < SG_SERIES_ROOM; i++)
        add(&series, 2, 10 * i, i);
    EXPECT(series.count == SG_SERIES_ROOM, series.per_sample == 1,
           series.samples[7].ns[SG_MEASURED_BLOCKED] == 70,
           series.samples[7].ns[SG_MEASURED_WAIT] == 7, series.sum.calls == 2 * SG_SERIES_ROOM);
    sg_series_clear(&series);
}

/* 5 more than room: pairs, and a last sample of one. */
TEST("beyond its capacity a series merges neighbours into one sample")
{
    struct sg_series series = {0};
    uint64_t n = SG_SERIES_ROOM + 5, sum = 0;

    for (uint64_t i = 0; i < n; i++)
        add(&series, 1, i, 0);
    EXPECT(series.per_sample == 2, series.count == SG_SERIES_ROOM / 2 + 3, series.instances == n,
           series.samples[0].ns[SG_MEASURED_BLOCKED] == 0 + 1,
           series.samples[3].ns[SG_MEASURED_BLOCKED] == 6 + 7,
           series.samples[series.count - 1].calls == 1,
           series.samples[series.count - 1].ns[SG_MEASURED_BLOCKED] == n - 1);
    for (uint32_t i = 0; i < series.count; i++)
        sum += series.samples[i].ns[SG_MEASURED_BLOCKED];
    EXPECT(sum == n * (n - 1) / 2, series.sum.ns[SG_MEASURED_BLOCKED] == sum);
    sg_series_clear(&series);
}

TEST("a million instances fit the capacity and keep their sum")
{
    struct sg_series series = {0};
    uint64_t n = 1000000, sum = 0;

    for (uint64_t i = 0; i < n; i++)
        add(&series, 3, i, 0);
    for (uint32_t i = 0; i < series.count; i++)
        sum += series.samples[i].ns[SG_MEASURED_BLOCKED];
    EXPECT(series.count <= SG_SERIES_ROOM, series.sum.calls == 3 * n, sum == n * (n - 1) / 2);
    sg_series_clear(&series);
}

TEST("the cost of late contributions is added to the last instance")
{
    struct sg_series series = {0};

    sg_series_add_processor(&series, 5);
    EXPECT(series.sum.ns[SG_MEASURED_PROCESSOR] == 0);
    add(&series, 1, 100, 0);
    sg_series_add_processor(&series, 5);
    EXPECT(series.samples[0].ns[SG_MEASURED_PROCESSOR] == 105,
           series.sum.ns[SG_MEASURED_PROCESSOR] == 105, series.sum.ns[SG_MEASURED_BLOCKED] == 100);
    sg_series_clear(&series);
}

/* ---- intervals --------------------------------------------------------------------------------
 */

TEST("constant costs have intervals of zero width")
{
    struct sg_series a = {0}, b = {0};
    struct sg_difference out[SG_MEASURED_COUNT];

    for (int i = 0; i < 16; i++) {
        add(&a, 2, 600, 400);
        add(&b, 2, 500, 400);
    }
    ASSERT(sg_bootstrap(&a, &b, 1, out) == SG_OK);
    EXPECT(out[SG_MEASURED_BLOCKED].verdict == SG_VERDICT_DIFFERS,
           out[SG_MEASURED_BLOCKED].low == -50, out[SG_MEASURED_BLOCKED].high == -50,
           out[SG_MEASURED_WAIT].verdict == SG_VERDICT_NOISE, out[SG_MEASURED_WAIT].high == 0);
    ASSERT(sg_bootstrap(&b, &a, 1, out) == SG_OK);
    EXPECT(out[SG_MEASURED_BLOCKED].verdict == SG_VERDICT_DIFFERS,
           out[SG_MEASURED_BLOCKED].low == 50);
    sg_series_clear(&a);
    sg_series_clear(&b);
}

TEST("too few instances have no interval")
{
    struct sg_series a = {0}, b = {0};
    struct sg_difference out[SG_MEASURED_COUNT];

    for (uint32_t i = 0; i < SG_BOOTSTRAP_SAMPLES_MIN; i++) {
        add(&a, 1, 100, 0);
        if (i > 0)
            add(&b, 1, 900, 0);
    }
    ASSERT(sg_bootstrap(&a, &b, 1, out) == SG_OK);
    for (int measured = 0; measured < SG_MEASURED_COUNT; measured++)
        EXPECT(out[measured].verdict == SG_VERDICT_FEW);
    sg_series_clear(&a);
    sg_series_clear(&b);
}

/* 100 instances of half 500 and half 1500 against as many of 1000: means are the same. The standard
 * deviation of the first mean is 500 / sqrt 100 = 50, so the interval ends near +-1.96 * 50 = 98.
 */
TEST("the interval of a known spread has its theoretical width")
{
    struct sg_series a = {0}, b = {0};
    struct sg_difference out[SG_MEASURED_COUNT];

    for (int i = 0; i < 100; i++) {
        add(&a, 1, 1000, 0);
        add(&b, 1, i % 2 == 0 ? 500 : 1500, 0);
    }
    ASSERT(sg_bootstrap(&a, &b, 1, out) == SG_OK);
    EXPECT(out[SG_MEASURED_BLOCKED].verdict == SG_VERDICT_NOISE,
           is_near(out[SG_MEASURED_BLOCKED].low, -98, 15),
           is_near(out[SG_MEASURED_BLOCKED].high, 98, 15));
    sg_series_clear(&a);
    sg_series_clear(&b);
}

/* Instances of unequal numbers of calls: the mean is the sum of ns by the sum of calls. */
TEST("a mean is taken over calls, not over instances")
{
    struct sg_series a = {0}, b = {0};
    struct sg_difference out[SG_MEASURED_COUNT];

    for (int i = 0; i < 20; i++) {
        add(&a, 1, 100, 0);
        add(&a, 9, 900, 0);
        add(&b, 3, 600, 0);
    }
    EXPECT(sg_series_mean(&a, SG_MEASURED_BLOCKED) == 100);
    ASSERT(sg_bootstrap(&a, &b, 1, out) == SG_OK);
    EXPECT(is_near(out[SG_MEASURED_BLOCKED].low, 100, 1e-9),
           is_near(out[SG_MEASURED_BLOCKED].high, 100, 1e-9));
    sg_series_clear(&a);
    sg_series_clear(&b);
}

/* About 1 in 20 of 200 pairs of runs that do not differ is called different: with the seeds given
 * between 2 and 24 (binomial, 5 standard deviations up). A shift of half the mean is always seen.
 */
TEST("equal runs are rarely called different, unequal ones usually are")
{
    int wrong = 0, seen = 0;

    for (uint64_t pair = 0; pair < 200; pair += (uint64_t)unit_step()) {
        struct sg_series a = {0}, b = {0}, c = {0};
        struct sg_difference out[SG_MEASURED_COUNT];

        for (uint64_t i = 0; i < 200; i++) {
            double x = sg_random_exponential(sg_random(1, SG_RANDOM_NOISE, pair, i), 1000);
            double y = sg_random_exponential(sg_random(2, SG_RANDOM_NOISE, pair, i), 1000);

            add(&a, 1, (uint64_t)x, 0);
            add(&b, 1, (uint64_t)y, 0);
            add(&c, 1, (uint64_t)(1.5 * y), 0);
        }
        ASSERT(sg_bootstrap(&a, &b, pair, out) == SG_OK);
        wrong += out[SG_MEASURED_BLOCKED].verdict != SG_VERDICT_NOISE;
        ASSERT(sg_bootstrap(&a, &c, pair, out) == SG_OK);
        seen += out[SG_MEASURED_BLOCKED].verdict == SG_VERDICT_DIFFERS;
        sg_series_clear(&a);
        sg_series_clear(&b);
        sg_series_clear(&c);
    }
    EXPECT(unit_step() > 1 || (wrong >= 2 && wrong <= 24), seen >= 190 / unit_step());
}

TEST("the same series and seed give the same interval")
{
    struct sg_series a = {0}, b = {0};
    struct sg_difference first[SG_MEASURED_COUNT], second[SG_MEASURED_COUNT];

    for (uint64_t i = 0; i < 50; i++) {
        add(&a, 1, 100 + i % 7, 0);
        add(&b, 1, 100 + i % 11, 0);
    }
    ASSERT(sg_bootstrap(&a, &b, 9, first) == SG_OK, sg_bootstrap(&a, &b, 9, second) == SG_OK);
    EXPECT(first[0].low == second[0].low, first[0].high == second[0].high);
    sg_series_clear(&a);
    sg_series_clear(&b);
}

/* 100 values, half 0 and half 10, have the mean 5 and a standard error of 0.5. */
TEST("the interval of a mean of values has its theoretical width")
{
    double values[100], low = 0, high = 0;

    for (int i = 0; i < 100; i++)
        values[i] = i % 2 == 0 ? 0 : 10;
    EXPECT(!sg_bootstrap_mean(values, SG_BOOTSTRAP_SAMPLES_MIN - 1, 1, &low, &high),
           sg_bootstrap_mean(values, 100, 1, &low, &high), is_near(low, 5 - 1.96 * 0.5, 0.2),
           is_near(high, 5 + 1.96 * 0.5, 0.2));
    for (int i = 0; i < 100; i++)
        values[i] = 3;
    EXPECT(sg_bootstrap_mean(values, 100, 1, &low, &high), is_near(low, 3, 1e-9),
           is_near(high, 3, 1e-9));
}
