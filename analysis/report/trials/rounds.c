/* Turns the blocks of each communicator into reports: finds out which belong together, and cuts
 * them into rounds. */
#include "report/trials/judge.h"
#include "report/trials/trials.h"

#include <stdlib.h>
#include <string.h>

static bool same_arms(const struct sg_tried_group *a, const struct sg_tried_group *b)
{
    for (uint32_t arm = 1; arm <= SG_REPORT_ARMS_MAX; arm++) {
        if ((a->calls[arm].calls > 0) != (b->calls[arm].calls > 0))
            return false;
    }
    return true;
}

/* Whether two communicators' calls belong to one report. */
static bool goes_with(const struct sg_tried_group *a, const struct sg_tried_group *b)
{
    return a->place == b->place && a->site == b->site && a->operation == b->operation &&
           a->nonblocking == b->nonblocking && a->has_events == b->has_events && same_arms(a, b);
}

/* A report in the making. */
struct making {
    struct sg_report_trial *trial;
    uint32_t place_of_arm[SG_REPORT_ARMS_MAX + 1]; /* in the report */
    struct sg_tried_sums *rounds;                  /* arm_count at a time */
    uint32_t round_count;
};

static enum sg_status name_arms(const struct sg_trials *trials, const struct sg_tried_group *group,
                                struct making *making)
{
    struct sg_report_trial *trial = making->trial;

    *trial = (struct sg_report_trial){.place = strdup(trials->arms[group->place].place),
                                      .site = group->site,
                                      .operation = group->operation,
                                      .nonblocking = group->nonblocking,
                                      .block = trials->block};
    trial->arms = calloc(SG_REPORT_ARMS_MAX, sizeof *trial->arms);
    if (trial->place == NULL || trial->arms == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t arm = 1; arm <= trials->arm_count; arm++) {
        if (group->calls[arm].calls == 0)
            continue;
        making->place_of_arm[arm] = trial->arm_count;
        trial->arms[trial->arm_count].text = strdup(trials->arms[arm].text);
        if (trial->arms[trial->arm_count++].text == NULL)
            return SG_ERR_MEMORY;
    }
    return SG_OK;
}

static int by_number(const void *left, const void *right)
{
    const struct sg_tried_block *a = left, *b = right;

    return (a->number > b->number) - (a->number < b->number);
}

/* True: the sums of a whole round are complete. */
static bool is_whole(const struct sg_tried_sums *sums, uint32_t arms)
{
    for (uint32_t i = 0; i < arms; i++) {
        if (sums[i].instances == 0)
            return false;
    }
    return arms > 1;
}

static bool make_round_room(struct making *making)
{
    uint32_t arms = making->trial->arm_count, count = making->round_count;
    struct sg_tried_sums *larger;

    if ((count & (count - 1)) != 0)
        return true;
    larger = realloc(making->rounds, (size_t)(count > 0 ? 2 * count : 1) * arms * sizeof *larger);
    if (larger == NULL)
        return false;
    making->rounds = larger;
    return true;
}

/* Cuts a communicator's blocks into rounds. */
static enum sg_status add_rounds(struct making *making, struct sg_tried_group *group)
{
    struct sg_report_trial *trial = making->trial;
    struct sg_tried_sums sums[SG_REPORT_ARMS_MAX] = {0};

    if (group->block_count > 1)
        qsort(group->blocks, group->block_count, sizeof *group->blocks, by_number);
    for (uint32_t i = 0; i < group->block_count; i++) {
        const struct sg_tried_block *block = &group->blocks[i];

        if (block->arm == 0)
            continue;
        trial->arms[making->place_of_arm[block->arm]].blocks++;
        trial->first_calls += block->low.calls;
        if (block->rest.instances > 0)
            sg_tried_add(&sums[making->place_of_arm[block->arm]], &block->rest);
        if (!is_whole(sums, trial->arm_count))
            continue;
        if (!make_round_room(making))
            return SG_ERR_MEMORY;
        memcpy(&making->rounds[(size_t)making->round_count++ * trial->arm_count], sums,
               trial->arm_count * sizeof *sums);
        memset(sums, 0, sizeof sums);
    }
    for (uint32_t i = 0; i < trial->arm_count; i++)
        trial->loose_calls += sums[i].calls;
    return SG_OK;
}

static void add_calls(struct making *making, const struct sg_tried_group *group)
{
    for (uint32_t arm = 1; arm <= SG_REPORT_ARMS_MAX; arm++) {
        struct sg_report_arm *out = &making->trial->arms[making->place_of_arm[arm]];
        const struct sg_tried_calls *calls = &group->calls[arm];

        if (calls->calls == 0)
            continue;
        out->calls += calls->calls;
        out->declined_calls += calls->declined;
        /* Sums until all communicators have been added. */
        if (!group->has_events)
            out->cost[SG_TRIED_BLOCKED].mean += (double)calls->blocked_ns;
    }
    making->trial->mixed_calls += group->mixed_calls;
}

static void find_totals_means(struct sg_report_trial *trial)
{
    for (uint32_t i = 0; i < trial->arm_count; i++)
        trial->arms[i].cost[SG_TRIED_BLOCKED].mean /= (double)trial->arms[i].calls;
}

/* A report of the group at first and the later groups like it, which are then marked as done. */
static enum sg_status make_report(struct sg_trials *trials, uint32_t first, bool *done,
                                  struct sg_report_trial *out)
{
    struct sg_tried_group *group = &trials->groups[first];
    struct making making = {.trial = out};
    enum sg_status status = name_arms(trials, group, &making);

    for (uint32_t i = first; i < trials->group_count && status == SG_OK; i++) {
        if (done[i] || !goes_with(group, &trials->groups[i]))
            continue;
        done[i] = true;
        add_calls(&making, &trials->groups[i]);
        status = add_rounds(&making, &trials->groups[i]);
    }
    if (status == SG_OK && group->has_events)
        status = sg_trials_judge(out, making.rounds, making.round_count);
    else if (status == SG_OK)
        find_totals_means(out);
    sg_trials_sort(out);
    free(making.rounds);
    return status;
}

enum sg_status sg_trials_finish(struct sg_trials *trials, struct sg_report_trial **out,
                                uint32_t *count)
{
    bool *done = calloc((size_t)trials->group_count + 1, sizeof *done);
    enum sg_status status = SG_OK;

    *count = 0;
    *out = calloc((size_t)trials->group_count + 1, sizeof **out);
    if (done == NULL || *out == NULL)
        status = SG_ERR_MEMORY;
    for (uint32_t i = 0; i < trials->group_count && status == SG_OK; i++) {
        if (!done[i])
            status = make_report(trials, i, done, &(*out)[(*count)++]);
    }
    free(done);
    return status;
}

void sg_report_trial_clear(struct sg_report_trial *trial)
{
    for (uint32_t i = 0; i < trial->arm_count; i++)
        free(trial->arms[i].text);
    free(trial->arms);
    free(trial->place);
}
