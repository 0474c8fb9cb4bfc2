#include "report/trials/trials.h"

#include "core/room.h"
#include "report/trials/blocks.h"

#include <stdlib.h>
#include <string.h>

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

/* Arms beyond the maximum number are ignored. */
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

/* NULL: there is none. */
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

/* Instances arrive in roughly their order: which one is the first is known only in the end. */
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

/* ---- calls and late contributions ---- */

/* Whether the algorithm that ran is not the one that the arm names. */
static bool is_declined(const char *text, const char *algorithm)
{
    size_t length = strcspn(text, " (");

    return algorithm[0] != '\0' &&
           (strlen(algorithm) != length || strncmp(algorithm, text, length) != 0);
}

/* The arm of all members, or 0 if they differ. */
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
 * trial: it is that of its call site, or of the site's nonblocking calls if it has no others. It
 * may be handled, and so reported, before the instance's last call has ended. */
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
    /* Events contain all that the figures need. */
    if (status != SG_OK || group->has_events)
        return status;
    calls = &group->calls[totals->arm];
    calls->calls += totals->calls;
    calls->blocked_ns += totals->blocked_ns;
    if (is_declined(trials->arms[totals->arm].text, algorithms[totals->algorithm]))
        calls->declined += totals->calls;
    return SG_OK;
}
