/* Gathers the calls of trials in groups (call site, communicator, operation) and in blocks of each
 * group. At the end, groups with the same candidates become one report, whose blocks are cut into
 * rounds, and rounds become confidence intervals and winners.
 */
#include "report/aggregate.h"

#include "core/room.h"
#include "report/filter.h"
#include "report/quantiles.h"

#include <stdlib.h>
#include <string.h>

/* Trials while a run is read: the candidates, and for each call site and communicator the blocks in
 * which the candidates took turns. */

struct sg_tried_sums {
    uint64_t instances, calls;
    uint64_t ns[SG_TRIED_COUNT];
};

/* The cost of one block on one communicator. */
struct sg_tried_block {
    uint64_t number;
    uint32_t arm; /* candidate; 0: only late contributions are known so far */
    /* The block's first instance, by number, and its others. */
    uint64_t low_seq;
    bool has_low;
    struct sg_tried_sums low, rest;
};

struct sg_tried_arm {
    char *place, *text;
    uint32_t first_of_place; /* the lowest candidate with the same left side */
};

/* One candidate's calls in a group, including those whose blocks are not used. */
struct sg_tried_calls {
    uint64_t calls, declined, blocked_ns;
};

/* The calls of a trial from one call site on one communicator. */
struct sg_tried_group {
    uint32_t place; /* the trial, by its lowest candidate */
    uint32_t site, comm;
    enum sg_operation operation;
    bool nonblocking;
    bool has_events;
    uint64_t mixed_calls;
    struct sg_map block_by_number;
    struct sg_tried_block *blocks;
    uint32_t block_count;
    struct sg_tried_calls *calls; /* by candidate; [SG_REPORT_ARMS_MAX + 1] */
};

struct sg_trials {
    uint64_t block;
    struct sg_tried_arm arms[SG_REPORT_ARMS_MAX + 1]; /* from 1 */
    uint32_t arm_count;
    struct sg_tried_group *groups;
    uint32_t group_count;
    struct sg_map group_by_key;
};

static inline void sg_tried_add(struct sg_tried_sums *into, const struct sg_tried_sums *more)
{
    into->instances += more->instances;
    into->calls += more->calls;
    for (int tried = 0; tried < SG_TRIED_COUNT; tried++)
        into->ns[tried] += more->ns[tried];
}

const char *const sg_tried_names[SG_TRIED_COUNT] = {
    [SG_TRIED_BLOCKED] = "blocked",
    [SG_TRIED_PROCESSOR] = "processor",
    [SG_TRIED_SKEW] = "skew",
};

const char *const sg_tried_verdict_names[SG_TRIED_VERDICTS] = {
    [SG_TRIED_UNKNOWN] = "unknown",
    [SG_TRIED_FEW] = "few",
    [SG_TRIED_NONE] = "none",
    [SG_TRIED_WINNER] = "winner",
};

enum sg_status sg_trials_create(struct sg_trials **out)
{
    *out = calloc(1, sizeof **out);
    return *out != NULL ? SG_OK : SG_ERR_MEMORY;
}

void sg_trials_destroy(struct sg_trials *trials)
{
    if (trials == NULL)
        return;
    for (uint32_t i = 0; i < trials->group_count; i++) {
        sg_map_clear(&trials->groups[i].block_by_number);
        free(trials->groups[i].blocks);
        free(trials->groups[i].calls);
    }
    for (uint32_t arm = 1; arm <= trials->arm_count; arm++) {
        free(trials->arms[arm].place);
        free(trials->arms[arm].text);
    }
    sg_map_clear(&trials->group_by_key);
    free(trials->groups);
    free(trials);
}

void sg_trials_set_block(struct sg_trials *trials, uint64_t block)
{
    trials->block = block;
}

/* Candidates beyond the maximum number are ignored. */
enum sg_status sg_trials_arm(struct sg_trials *trials, const char *place, const char *text,
                             uint32_t *out)
{
    struct sg_tried_arm arm = {0};
    uint32_t number;

    for (number = 1; number <= trials->arm_count; number++) {
        const struct sg_tried_arm *known = &trials->arms[number];

        if (strcmp(known->place, place) != 0)
            continue;
        if (arm.first_of_place == 0)
            arm.first_of_place = number;
        if (strcmp(known->text, text) == 0) {
            *out = number;
            return SG_OK;
        }
    }
    *out = 0;
    if (number > SG_REPORT_ARMS_MAX)
        return SG_OK;
    if (arm.first_of_place == 0)
        arm.first_of_place = number;
    arm.place = strdup(place);
    arm.text = strdup(text);
    if (arm.place == NULL || arm.text == NULL) {
        free(arm.place);
        free(arm.text);
        return SG_ERR_MEMORY;
    }
    trials->arms[number] = arm;
    trials->arm_count = number;
    *out = number;
    return SG_OK;
}

/* ---- groups and blocks ----------------------------------------------------------------------- */

static uint64_t key_of(const struct sg_tried_group *group)
{
    return (uint64_t)group->site << 40 ^ (uint64_t)group->comm << 12 ^
           (uint64_t)(group->place << 4 | (uint32_t)group->operation << 1 | group->nonblocking);
}

/* NULL: no such group. */
static struct sg_tried_group *find_group(const struct sg_trials *trials,
                                         const struct sg_tried_group *like)
{
    int64_t found = sg_map_get(&trials->group_by_key, key_of(like));

    return found >= 0 ? &trials->groups[found] : NULL;
}

static enum sg_status make_group(struct sg_trials *trials, const struct sg_tried_group *like,
                                 struct sg_tried_group **out)
{
    struct sg_tried_group *group = find_group(trials, like);

    *out = group;
    if (group != NULL)
        return SG_OK;
    if (!SG_APPEND(trials->groups, trials->group_count, *like))
        return SG_ERR_MEMORY;
    group = &trials->groups[trials->group_count - 1];
    group->calls = calloc(SG_REPORT_ARMS_MAX + 1, sizeof *group->calls);
    if (group->calls == NULL)
        return SG_ERR_MEMORY;
    *out = group;
    return sg_map_put(&trials->group_by_key, key_of(like), trials->group_count - 1);
}

static enum sg_status make_block(const struct sg_trials *trials, struct sg_tried_group *group,
                                 uint64_t seq, struct sg_tried_block **out)
{
    uint64_t number = seq / (trials->block > 0 ? trials->block : 1);
    int64_t found = sg_map_get(&group->block_by_number, number);

    if (found < 0) {
        found = group->block_count;
        if (!SG_APPEND(group->blocks, group->block_count,
                       (struct sg_tried_block){.number = number}) ||
            sg_map_put(&group->block_by_number, number, (uint32_t)found) != SG_OK)
            return SG_ERR_MEMORY;
    }
    *out = &group->blocks[found];
    return SG_OK;
}

/* Instances arrive roughly in order: the first one of a block is known only at its end. */
static void add_to_block(struct sg_tried_block *block, uint64_t seq,
                         const struct sg_tried_sums *sums)
{
    if (!block->has_low || seq < block->low_seq) {
        sg_tried_add(&block->rest, &block->low);
        block->low = (struct sg_tried_sums){0};
        block->low_seq = seq;
        block->has_low = true;
    }
    sg_tried_add(seq == block->low_seq ? &block->low : &block->rest, sums);
}

/* ---- calls and late contributions ------------------------------------------------------------ */

/* True if another algorithm ran than the one that the candidate names. */
static bool is_declined(const char *text, const char *algorithm)
{
    size_t length = strcspn(text, " (");

    return algorithm[0] != '\0' &&
           (strlen(algorithm) != length || strncmp(algorithm, text, length) != 0);
}

/* The candidate that all members ran, or 0 if they differ. */
static uint32_t common_arm(const struct sg_instance *instance, uint32_t *any)
{
    uint32_t arm = instance->calls[0].arm;

    *any = 0;
    for (uint32_t i = 0; i < instance->size; i++) {
        if (instance->calls[i].arm != 0)
            *any = instance->calls[i].arm;
        if (instance->calls[i].arm != arm)
            arm = 0;
    }
    return arm;
}

enum sg_status sg_trials_instance(struct sg_trials *trials, const struct sg_seen_instance *seen,
                                  uint32_t site, char *const *algorithms)
{
    const struct sg_instance *instance = seen->instance;
    uint32_t any = 0, arm = trials->arm_count > 0 ? common_arm(instance, &any) : 0;
    struct sg_tried_sums sums = {.instances = 1, .calls = instance->size};
    struct sg_tried_group *group;
    struct sg_tried_block *block;
    enum sg_status status;

    if (any == 0)
        return SG_OK;
    status = make_group(trials,
                        &(struct sg_tried_group){.place = trials->arms[any].first_of_place,
                                                 .site = site,
                                                 .comm = instance->comm,
                                                 .operation = instance->operation,
                                                 .nonblocking = instance->nonblocking},
                        &group);
    if (status != SG_OK)
        return status;
    group->has_events = true;
    if (arm == 0) {
        group->mixed_calls += instance->size;
        return SG_OK;
    }
    status = make_block(trials, group, instance->seq, &block);
    if (status != SG_OK)
        return status;
    for (uint32_t i = 0; i < instance->size; i++) {
        sums.ns[SG_TRIED_BLOCKED] += seen->costs[i].blocked_ns;
        group->calls[arm].declined +=
            is_declined(trials->arms[arm].text, algorithms[instance->calls[i].algorithm]);
    }
    sums.ns[SG_TRIED_PROCESSOR] = sums.ns[SG_TRIED_BLOCKED];
    sums.ns[SG_TRIED_SKEW] = seen->measure->skew_ns;
    group->calls[arm].calls += instance->size;
    block->arm = arm;
    add_to_block(block, instance->seq, &sums);
    return SG_OK;
}

/* Handling inside a call is already part of that call's time. A contribution does not name its
 * trial: it counts for the trial of its call site, or of the site's nonblocking calls if there are
 * no others. It may be handled, and reported, before the last call of its instance ends. */
enum sg_status sg_trials_late(struct sg_trials *trials, const struct sg_late_cost *late)
{
    struct sg_tried_sums sums = {.ns[SG_TRIED_PROCESSOR] = late->handler_ns};
    enum sg_status status = SG_OK;

    if (late->in_call || !late->has_seq)
        return SG_OK;
    for (uint32_t arm = 1; arm <= trials->arm_count; arm++) {
        struct sg_tried_group like = {
            .place = arm, .site = late->site, .comm = late->comm, .operation = late->operation};
        struct sg_tried_group *group = find_group(trials, &like);
        struct sg_tried_block *block;

        if (group == NULL) {
            like.nonblocking = true;
            group = find_group(trials, &like);
        }
        if (group == NULL)
            continue;
        status = make_block(trials, group, late->seq, &block);
        if (status == SG_OK)
            add_to_block(block, late->seq, &sums);
        return status;
    }
    return SG_OK;
}

enum sg_status sg_trials_totals(struct sg_trials *trials, const struct sg_totals *totals,
                                char *const *algorithms)
{
    struct sg_tried_group *group;
    struct sg_tried_calls *calls;
    enum sg_status status;

    if (totals->arm == 0)
        return SG_OK;
    status = make_group(trials,
                        &(struct sg_tried_group){.place = trials->arms[totals->arm].first_of_place,
                                                 .site = totals->site,
                                                 .comm = totals->comm,
                                                 .operation = totals->operation,
                                                 .nonblocking = totals->nonblocking},
                        &group);
    /* With events, the statistics are not needed. */
    if (status != SG_OK || group->has_events)
        return status;
    calls = &group->calls[totals->arm];
    calls->calls += totals->calls;
    calls->blocked_ns += totals->blocked_ns;
    if (is_declined(trials->arms[totals->arm].text, algorithms[totals->algorithm]))
        calls->declined += totals->calls;
    return SG_OK;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

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

/* Sorts candidates by cost, and updates the indices of the cheapest. */
static void sort_arms(struct sg_report_trial *trial)
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

/* Fills costs, verdicts and least of a trial whose candidates are known and counted. Each round has
 * the sums of all candidates, arm_count in a row. May merge neighbouring rounds in place. */
static enum sg_status judge(struct sg_report_trial *trial, struct sg_tried_sums *rounds,
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

/* ---- reports: groups that belong together, cut into rounds ----------------------------------- */

static bool same_arms(const struct sg_tried_group *a, const struct sg_tried_group *b)
{
    for (uint32_t arm = 1; arm <= SG_REPORT_ARMS_MAX; arm++) {
        if ((a->calls[arm].calls > 0) != (b->calls[arm].calls > 0))
            return false;
    }
    return true;
}

/* True if the calls of two communicators belong to one report. */
static bool goes_with(const struct sg_tried_group *a, const struct sg_tried_group *b)
{
    return a->place == b->place && a->site == b->site && a->operation == b->operation &&
           a->nonblocking == b->nonblocking && a->has_events == b->has_events && same_arms(a, b);
}

/* A report under construction. */
struct making {
    struct sg_report_trial *trial;
    uint32_t place_of_arm[SG_REPORT_ARMS_MAX + 1]; /* position in the report */
    struct sg_tried_sums *rounds;                  /* arm_count for each round */
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

/* True if the sums make a whole round. */
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
        /* A sum until all communicators have been added. */
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

/* Makes a report of the group at first and the later groups that go with it, and marks these as
 * done. */
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
        status = judge(out, making.rounds, making.round_count);
    else if (status == SG_OK)
        find_totals_means(out);
    sort_arms(out);
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
