#include "report/judge.h"

#include "report/quantiles.h"

#include <stdlib.h>
#include <string.h>

#define DRAWS 4000
/* Above this number of rounds neighbours are merged: a long run takes no more time, and a slow
 * phase does not count as independent evidence. */
#define ROUNDS_MAX 2048u
#define OUTSIDE 0.025 /* share of the draws beyond each end of an interval */

static double mean_of(const struct sg_tried_sums *sums, int tried)
{
    uint64_t count = tried == SG_TRIED_SKEW ? sums->instances : sums->calls;

    return count > 0 ? (double)sums->ns[tried] / (double)count : 0;
}

static uint32_t put_together(struct sg_tried_sums *rounds, uint32_t count, uint32_t arms)
{
    while (count > ROUNDS_MAX) {
        for (uint32_t i = 0; i < count / 2; i++) {
            for (uint32_t arm = 0; arm < arms; arm++) {
                struct sg_tried_sums both = rounds[2 * i * arms + arm];

                sg_tried_add(&both, &rounds[(2 * i + 1) * arms + arm]);
                rounds[i * arms + arm] = both;
            }
        }
        /* An odd last round joins its neighbour. */
        for (uint32_t arm = 0; arm < arms && count % 2 == 1; arm++)
            sg_tried_add(&rounds[(count / 2 - 1) * arms + arm], &rounds[(count - 1) * arms + arm]);
        count /= 2;
    }
    return count;
}

/* The means of all draws: by figure, candidate, draw. */
struct drawn {
    double *means;
    double *differences; /* working memory for one pair */
    uint32_t arms;
};

static double *means_of(const struct drawn *drawn, int tried, uint32_t arm)
{
    return &drawn->means[((size_t)tried * drawn->arms + arm) * DRAWS];
}

/* Draws whole rounds: whatever one candidate met in a round, the others met too. */
static void draw(const struct sg_tried_sums *rounds, uint32_t count, struct drawn *drawn)
{
    uint64_t random = sg_random_mix(count);

    for (int i = 0; i < DRAWS; i++) {
        struct sg_tried_sums sums[SG_REPORT_ARMS_MAX] = {0};

        for (uint32_t j = 0; j < count; j++) {
            const struct sg_tried_sums *round =
                &rounds[(size_t)sg_resample_draw(&random, count) * drawn->arms];

            for (uint32_t arm = 0; arm < drawn->arms; arm++)
                sg_tried_add(&sums[arm], &round[arm]);
        }
        for (int tried = 0; tried < SG_TRIED_COUNT; tried++) {
            for (uint32_t arm = 0; arm < drawn->arms; arm++)
                means_of(drawn, tried, arm)[i] = mean_of(&sums[arm], tried);
        }
    }
}

/* Estimates each candidate's cost above the cheapest. Requires draws that are not sorted yet. */
static void compare_with_least(struct sg_report_trial *trial, int tried, const struct drawn *drawn)
{
    const double *least = means_of(drawn, tried, trial->least[tried]);
    uint32_t pairs = trial->arm_count * (trial->arm_count - 1) / 2;

    trial->verdict[tried] = SG_TRIED_WINNER;
    for (uint32_t arm = 0; arm < trial->arm_count; arm++) {
        struct sg_estimate *above = &trial->arms[arm].above[tried];
        const double *means = means_of(drawn, tried, arm);

        if (arm == trial->least[tried])
            continue;
        for (int i = 0; i < DRAWS; i++)
            drawn->differences[i] = means[i] - least[i];
        sg_resample_interval(drawn->differences, DRAWS, OUTSIDE / pairs, &above->low, &above->high);
        trial->arms[arm].like_least[tried] = above->low <= 0;
        if (above->low <= 0)
            trial->verdict[tried] = SG_TRIED_NONE;
    }
}

static enum sg_status find_intervals(struct sg_report_trial *trial,
                                     const struct sg_tried_sums *rounds, uint32_t count)
{
    struct drawn drawn = {.arms = trial->arm_count};

    drawn.means = malloc((size_t)SG_TRIED_COUNT * trial->arm_count * DRAWS * sizeof *drawn.means);
    drawn.differences = malloc(DRAWS * sizeof *drawn.differences);
    if (drawn.means == NULL || drawn.differences == NULL) {
        free(drawn.means);
        free(drawn.differences);
        return SG_ERR_MEMORY;
    }
    draw(rounds, count, &drawn);
    for (int tried = 0; tried < SG_TRIED_COUNT; tried++) {
        compare_with_least(trial, tried, &drawn);
        for (uint32_t arm = 0; arm < trial->arm_count; arm++) {
            struct sg_estimate *cost = &trial->arms[arm].cost[tried];

            sg_resample_interval(means_of(&drawn, tried, arm), DRAWS, OUTSIDE, &cost->low,
                                 &cost->high);
        }
    }
    free(drawn.means);
    free(drawn.differences);
    return SG_OK;
}

static void find_least(struct sg_report_trial *trial)
{
    for (int tried = 0; tried < SG_TRIED_COUNT; tried++) {
        trial->least[tried] = 0;
        for (uint32_t arm = 1; arm < trial->arm_count; arm++) {
            if (trial->arms[arm].cost[tried].mean <
                trial->arms[trial->least[tried]].cost[tried].mean)
                trial->least[tried] = arm;
        }
    }
}

static int by_cost(const void *left, const void *right)
{
    const struct sg_report_arm *a = left, *b = right;
    double difference = a->cost[SG_TRIED_BLOCKED].mean - b->cost[SG_TRIED_BLOCKED].mean;

    if (difference == 0)
        return strcmp(a->text, b->text);
    return difference > 0 ? 1 : -1;
}

void sg_trials_sort(struct sg_report_trial *trial)
{
    if (trial->arm_count > 1)
        qsort(trial->arms, trial->arm_count, sizeof *trial->arms, by_cost);
    find_least(trial);
}

static void find_means(struct sg_report_trial *trial, const struct sg_tried_sums *rounds,
                       uint32_t count)
{
    for (uint32_t arm = 0; arm < trial->arm_count; arm++) {
        struct sg_report_arm *out = &trial->arms[arm];
        struct sg_tried_sums sums = {0};

        for (uint32_t i = 0; i < count; i++)
            sg_tried_add(&sums, &rounds[(size_t)i * trial->arm_count + arm]);
        out->used_calls = sums.calls;
        out->used_instances = sums.instances;
        for (int tried = 0; tried < SG_TRIED_COUNT; tried++)
            out->cost[tried].mean = mean_of(&sums, tried);
    }
    find_least(trial);
    for (int tried = 0; tried < SG_TRIED_COUNT; tried++) {
        for (uint32_t arm = 0; arm < trial->arm_count; arm++)
            trial->arms[arm].above[tried].mean = trial->arms[arm].cost[tried].mean -
                                                 trial->arms[trial->least[tried]].cost[tried].mean;
    }
}

enum sg_status sg_trials_judge(struct sg_report_trial *trial, struct sg_tried_sums *rounds,
                               uint32_t round_count)
{
    trial->rounds = round_count;
    for (int tried = 0; tried < SG_TRIED_COUNT; tried++)
        trial->verdict[tried] = SG_TRIED_FEW;
    if (round_count == 0)
        return SG_OK;
    find_means(trial, rounds, round_count);
    if (round_count < SG_RESAMPLE_SAMPLES_MIN)
        return SG_OK;
    return find_intervals(trial, rounds, put_together(rounds, round_count, trial->arm_count));
}
