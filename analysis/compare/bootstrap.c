#include "compare/bootstrap.h"

#include "report/resample.h"

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

/* The sum of as many samples as there are, each drawn from all of them. */
static struct sg_sample draw(const struct sg_series *series, uint64_t *random)
{
    struct sg_sample sum = {0};

    for (uint32_t i = 0; i < series->count; i++) {
        const struct sg_sample *sample = &series->samples[sg_resample_draw(random, series->count)];

        sum.calls += sample->calls;
        for (int measured = 0; measured < SG_MEASURED_COUNT; measured++)
            sum.ns[measured] += sample->ns[measured];
    }
    return sum;
}

void sg_difference_judge(struct sg_difference *out)
{
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
    for (int measured = 0; measured < SG_MEASURED_COUNT; measured++) {
        sg_resample_interval(&drawn[measured * SG_BOOTSTRAP_DRAWS], SG_BOOTSTRAP_DRAWS, OUTSIDE,
                             &out[measured].low, &out[measured].high);
        sg_difference_judge(&out[measured]);
    }
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
            sum += values[sg_resample_draw(&random, count)];
        drawn[i] = sum / count;
    }
    sg_resample_interval(drawn, SG_BOOTSTRAP_DRAWS, OUTSIDE, low, high);
    free(drawn);
    return true;
}
