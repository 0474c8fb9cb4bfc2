#include "compare/bootstrap.h"

#include "sim/random.h"

#include <math.h>
#include <stdlib.h>

#define OUTSIDE 0.025 /* of the draws, at each end of the interval */

static double mean_of(const struct sg_sample *sum, enum sg_measured measured)
{
    return sum->calls > 0 ? (double)sum->ns[measured] / (double)sum->calls : 0;
}

double sg_series_mean(const struct sg_series *series, enum sg_measured measured)
{
    return mean_of(&series->sum, measured);
}

/* A number below count; the upper half of the product with 32 random bits: even, for so few. */
static uint32_t draw_index(uint32_t count, uint64_t *random)
{
    return (uint32_t)((sg_random_mix(++*random) >> 32) * (uint64_t)count >> 32);
}

/* The sum of as many samples as there are, each drawn from all of them. */
static struct sg_sample draw(const struct sg_series *series, uint64_t *random)
{
    struct sg_sample sum = {0};

    for (uint32_t i = 0; i < series->count; i++) {
        const struct sg_sample *sample = &series->samples[draw_index(series->count, random)];

        sum.calls += sample->calls;
        for (int measured = 0; measured < SG_MEASURED_COUNT; measured++)
            sum.ns[measured] += sample->ns[measured];
    }
    return sum;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static void find_middle(double *drawn, double *low, double *high)
{
    size_t first = (size_t)(OUTSIDE * SG_BOOTSTRAP_DRAWS);

    qsort(drawn, SG_BOOTSTRAP_DRAWS, sizeof *drawn, compare);
    *low = drawn[first];
    *high = drawn[SG_BOOTSTRAP_DRAWS - 1 - first];
}

static void judge(double *drawn, struct sg_difference *out)
{
    find_middle(drawn, &out->low, &out->high);
    out->verdict = SG_VERDICT_NOISE;
    if (out->low > 0)
        out->verdict = SG_VERDICT_MORE;
    if (out->high < 0)
        out->verdict = SG_VERDICT_LESS;
}

enum sg_status sg_bootstrap(const struct sg_series *a, const struct sg_series *b, uint64_t seed,
                            struct sg_difference out[SG_MEASURED_COUNT])
{
    uint64_t random = sg_random_mix(seed);
    double *drawn;

    for (int measured = 0; measured < SG_MEASURED_COUNT; measured++)
        out[measured] = (struct sg_difference){.verdict = SG_VERDICT_FEW};
    if (a->count < SG_BOOTSTRAP_SAMPLES_MIN || b->count < SG_BOOTSTRAP_SAMPLES_MIN)
        return SG_OK;
    drawn = malloc((size_t)SG_MEASURED_COUNT * SG_BOOTSTRAP_DRAWS * sizeof *drawn);
    if (drawn == NULL)
        return SG_ERR_MEMORY;
    for (int i = 0; i < SG_BOOTSTRAP_DRAWS; i++) {
        struct sg_sample from_a = draw(a, &random), from_b = draw(b, &random);

        for (int measured = 0; measured < SG_MEASURED_COUNT; measured++)
            drawn[measured * SG_BOOTSTRAP_DRAWS + i] =
                mean_of(&from_b, (enum sg_measured)measured) -
                mean_of(&from_a, (enum sg_measured)measured);
    }
    for (int measured = 0; measured < SG_MEASURED_COUNT; measured++)
        judge(&drawn[measured * SG_BOOTSTRAP_DRAWS], &out[measured]);
    free(drawn);
    return SG_OK;
}

bool sg_bootstrap_mean(const double *values, uint32_t count, uint64_t seed, double *low,
                       double *high)
{
    uint64_t random = sg_random_mix(seed);
    double *drawn;

    if (count < SG_BOOTSTRAP_SAMPLES_MIN)
        return false;
    drawn = malloc(SG_BOOTSTRAP_DRAWS * sizeof *drawn);
    if (drawn == NULL)
        return false;
    for (int i = 0; i < SG_BOOTSTRAP_DRAWS; i++) {
        double sum = 0;

        for (uint32_t j = 0; j < count; j++)
            sum += values[draw_index(count, &random)];
        drawn[i] = sum / count;
    }
    find_middle(drawn, low, high);
    free(drawn);
    return true;
}
