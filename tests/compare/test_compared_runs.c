/* Tests intervals from the means of runs, and the gate: worked out by hand, and wrong as often as
 * they claim. */
#include "compare/compared_runs.h"
#include "lib/unit.h"
#include "sim/random.h"

#include <math.h>

static struct sg_run_means means_of(const double *values, uint32_t count)
{
    struct sg_run_means means = {0};

    for (uint32_t i = 0; i < count; i++)
        sg_run_means_add(&means, values[i]);
    return means;
}

static void expect(const double *a, uint32_t a_count, const double *b, uint32_t b_count,
                   double margin, enum sg_verdict verdict)
{
    struct sg_run_means of_a = means_of(a, a_count), of_b = means_of(b, b_count);
    struct sg_difference out = sg_run_spread(&of_a, &of_b, SG_CONFIDENCE_95);
    double difference = of_b.mean - of_a.mean;

    EXPECT(out.verdict == verdict, is_near(out.low, difference - margin, 1e-6),
           is_near(out.high, difference + margin, 1e-6));
}

/* Means 11 and 21, variances 1 and 1: of a mean 1/3 each, 4 degrees of freedom. */
TEST("intervals are those worked out by hand")
{
    const double a[] = {10, 11, 12}, b[] = {20, 21, 22}, near[] = {11, 12, 13};

    expect(a, 3, b, 3, 2.776 * sqrt(2.0 / 3), SG_VERDICT_MORE);
    expect(b, 3, a, 3, 2.776 * sqrt(2.0 / 3), SG_VERDICT_LESS);
    expect(a, 3, near, 3, 2.776 * sqrt(2.0 / 3), SG_VERDICT_NOISE);
}

/* Variances 2 and 8 of two runs each: of a mean 1 and 4, 25 / 17 degrees of freedom, of which the
 * inverse lies 0.36 of the way from 1/2 to 1. */
TEST("intervals are interpolated between whole degrees of freedom")
{
    const double a[] = {9, 11}, b[] = {98, 102};

    expect(a, 2, b, 2, (4.303 + 0.36 * (12.706 - 4.303)) * sqrt(5), SG_VERDICT_MORE);
}

TEST("a side with one run takes the other side's spread")
{
    const double a[] = {10, 11, 12}, b[] = {40};

    expect(a, 3, b, 1, 4.303 * sqrt(1 + 1.0 / 3), SG_VERDICT_MORE);
    expect(b, 1, a, 3, 4.303 * sqrt(1 + 1.0 / 3), SG_VERDICT_LESS);
    expect(b, 1, b, 1, 0, SG_VERDICT_FEW);
}

TEST("identical runs have intervals of zero width")
{
    const double a[] = {10, 10}, b[] = {20, 20};

    expect(a, 2, b, 2, 0, SG_VERDICT_MORE);
    expect(a, 2, a, 2, 0, SG_VERDICT_NOISE);
}

static double normal(uint64_t stream, uint64_t round, uint64_t i)
{
    double sum = 0;

    for (uint64_t j = 0; j < 12; j++)
        sum += (double)(sg_random(stream, SG_RANDOM_NOISE, round, 12 * i + j) >> 11) * 0x1p-53;
    return sum - 6;
}

/* 1 in 20 of 2000 comparisons of sides that do not differ may be called different: 100, with 5
 * standard deviations of 49. If spreads are equal at 30 runs, the number is not far smaller. */
TEST("equal sides are rarely called different, unequal ones usually are")
{
    static const uint32_t counts[][2] = {{2, 2}, {3, 3}, {2, 5}, {1, 4}, {10, 10}, {30, 30}};
    static const double spreads[] = {1, 3};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (size_t j = 0; j < sizeof spreads / sizeof spreads[0]; j++) {
            uint32_t wrong = 0, seen = 0;

            /* Nothing tells of another spread of a single run. */
            if (counts[i][0] == 1 && spreads[j] != 1)
                continue;
            for (uint64_t round = 0; round < 2000; round++) {
                struct sg_run_means a = {0}, b = {0}, c = {0};

                for (uint32_t k = 0; k < counts[i][0]; k++)
                    sg_run_means_add(&a, 100 + normal(1, round, k));
                for (uint32_t k = 0; k < counts[i][1]; k++) {
                    sg_run_means_add(&b, 100 + spreads[j] * normal(2, round, k));
                    sg_run_means_add(&c, 1000 + spreads[j] * normal(2, round, k));
                }
                wrong += sg_run_spread(&a, &b, SG_CONFIDENCE_95).verdict != SG_VERDICT_NOISE;
                seen += sg_run_spread(&a, &c, SG_CONFIDENCE_95).verdict == SG_VERDICT_MORE;
            }
            if (wrong > 149)
                printf("#   %u and %u runs, spread %g: wrong %u of 2000\n", counts[i][0],
                       counts[i][1], spreads[j], wrong);
            EXPECT(wrong <= 149, counts[i][0] < 30 || wrong >= 51, seen >= 1990);
        }
    }
}

/* ---- the gate -------------------------------------------------------------------------------- */

static struct sg_gate gate_of(const double *a, uint32_t a_count, const double *b, uint32_t b_count,
                              double limit)
{
    struct sg_run_means means[2] = {0};
    struct sg_gate gate = {.limit = limit};

    for (uint32_t i = 0; i < a_count; i++)
        sg_run_means_add(&means[0], log(a[i]));
    for (uint32_t i = 0; i < b_count; i++)
        sg_run_means_add(&means[1], log(b[i]));
    sg_gate_weigh(&gate, &means[0], &means[1]);
    return gate;
}

/* Both sides' logarithms lie 0.01 apart, so the interval of the quotient of means 1.2 is that by a
 * factor of exp(4.604 sqrt(2 / 3) 0.01) on either side. */
TEST("the gate fails a side that costs more than the limit by its interval's lower end")
{
    const double a[] = {100, 100 * exp(0.01), 100 * exp(-0.01)};
    const double b[] = {120, 120 * exp(0.01), 120 * exp(-0.01)};
    const double reach = exp(4.604 * sqrt(2.0 / 3) * 0.01);
    struct sg_gate gate = gate_of(a, 3, b, 3, 0.05);

    EXPECT(gate.verdict == SG_GATE_FAIL, is_near(gate.change, 0.2, 1e-9),
           is_near(gate.low, 1.2 / reach - 1, 1e-9), is_near(gate.high, 1.2 * reach - 1, 1e-9));
    EXPECT(gate_of(a, 3, b, 3, 1.2 / reach - 1.0001).verdict == SG_GATE_FAIL,
           gate_of(a, 3, b, 3, 1.2 / reach - 0.9999).verdict == SG_GATE_PASS,
           gate_of(b, 3, a, 3, 0).verdict == SG_GATE_PASS);
}

TEST("the gate does not judge two runs a side, and names how many it takes")
{
    const double a[] = {100, 101, 99}, b[] = {200, 201, 199};
    const double wide[] = {100, 160, 80};

    EXPECT(gate_of(a, 3, b, 2, 0.05).verdict == SG_GATE_FEW,
           gate_of(a, 1, b, 3, 0.05).verdict == SG_GATE_FEW,
           gate_of(a, 1, b, 3, 0.05).wanted == SG_GATE_RUNS_MIN,
           gate_of(a, 3, b, 3, 0.05).wanted == SG_GATE_RUNS_MIN);
    /* The standard deviation is 0.34: 2.576 sqrt(2 / n) 0.34 is log 1.05 at n = 650. */
    EXPECT(gate_of(a, 3, wide, 3, 0.05).verdict == SG_GATE_PASS);
    uint32_t wanted = gate_of(wide, 3, wide, 3, 0.05).wanted;
    EXPECT(wanted > 600 && wanted < 720);
}

/* The time of a run on a busy machine: a tenth of the runs are up to half as long again. */
static double busy(uint64_t stream, uint64_t round, uint64_t i)
{
    double extra = (double)(sg_random(stream, SG_RANDOM_NOISE, round, 1000 + i) >> 11) * 0x1p-53;

    return log(100) + 0.02 * normal(stream, round, i) + (extra < 0.1 ? 5 * extra : 0);
}

/* Not one in 100 of 5000 comparisons, at a limit of 0 and so without its help; 15 % are seen. */
TEST("the gate rarely fails a side that costs the same, and usually one that costs more")
{
    static const uint32_t counts[] = {3, 5, 10};

    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        uint32_t wrong = 0, seen = 0, rounds = 5000 / (uint32_t)unit_step();

        for (uint64_t round = 0; round < rounds; round++) {
            struct sg_run_means a = {0}, b = {0}, more = {0};
            struct sg_gate same = {.limit = 0}, gate = {.limit = 0.05};

            for (uint32_t i = 0; i < counts[c]; i++) {
                sg_run_means_add(&a, busy(1, round, i));
                sg_run_means_add(&b, busy(2, round, i));
                sg_run_means_add(&more, log(1.15) + log(100) + 0.02 * normal(3, round, i));
            }
            sg_gate_weigh(&same, &a, &b);
            wrong += same.verdict == SG_GATE_FAIL;
            a = (struct sg_run_means){0};
            for (uint32_t i = 0; i < counts[c]; i++)
                sg_run_means_add(&a, log(100) + 0.02 * normal(1, round, i));
            sg_gate_weigh(&gate, &a, &more);
            seen += gate.verdict == SG_GATE_FAIL;
        }
        printf("#   %u runs a side: %u false alarms, %u seen of %u\n", counts[c], wrong, seen,
               rounds);
        EXPECT(wrong < rounds / 100, counts[c] < 5 || seen > rounds / 100 * 99);
    }
}
