#include "trace/export/plan.h"

#include <stdlib.h>

static int by_rank(const void *a, const void *b)
{
    const struct sg_summary *left = a;
    const struct sg_summary *right = b;

    return (left->rank > right->rank) - (left->rank < right->rank);
}

/* False when two summaries are one rank's, or one is no rank's. */
static bool index_ranks(struct sg_unified *unified)
{
    for (int i = 0; i < unified->summary_count; i++) {
        int rank = unified->summaries[i].rank;

        if (rank < 0 || rank >= unified->world_size || unified->by_rank[rank] >= 0)
            return false;
        unified->by_rank[rank] = i;
    }
    return true;
}

static void add_algorithms(struct sg_unified *unified, struct sg_plan *plan,
                           const struct sg_export *input)
{
    for (int i = 0; i < input->algorithm_count; i++)
        plan->algorithms[i] = sg_strings_add(&unified->strings, input->algorithms[i]);
    /* Behind the known ones, what a log of a later stagger may name. */
    plan->algorithms[input->algorithm_count] = sg_strings_add(&unified->strings, "unknown");
    plan->algorithm_count = (uint32_t)input->algorithm_count + 1;
}

/* All ranks have the same: the first that tells of an arm is heard. */
static void add_arms(struct sg_unified *unified, struct sg_plan *plan,
                     const struct sg_summary *summary)
{
    for (uint32_t i = 0; i < summary->arm_count; i++) {
        const struct sg_arm_entry *entry = &summary->arms[i];
        struct sg_plan_arm *arm = &plan->arms[entry->arm % SG_RAN_LIMIT];

        if (arm->text != 0 || entry->block == 0)
            continue;
        arm->place = sg_strings_add(&unified->strings, entry->place);
        arm->text = sg_strings_add(&unified->strings, entry->text);
        if (unified->trial_block == 0)
            unified->trial_block = entry->block;
    }
}

enum sg_status sg_unify(const struct sg_export *input, struct sg_summary *summaries, int count,
                        struct sg_unified *unified, struct sg_plan *plan)
{
    enum sg_status status = SG_ERR_MEMORY;

    *unified = (struct sg_unified){
        .summaries = summaries, .summary_count = count, .world_size = input->world_size};
    *plan = (struct sg_plan){0};
    qsort(summaries, (size_t)count, sizeof *summaries, by_rank);
    unified->by_rank = malloc((size_t)input->world_size * sizeof *unified->by_rank);
    plan->algorithms = calloc((size_t)input->algorithm_count + 1, sizeof *plan->algorithms);
    if (unified->by_rank == NULL || plan->algorithms == NULL)
        goto err_clear;
    for (int rank = 0; rank < input->world_size; rank++)
        unified->by_rank[rank] = -1;
    if (count < 1 || !index_ranks(unified)) {
        status = SG_ERR_ARGUMENT;
        goto err_clear;
    }
    sg_strings_add(&unified->strings, "");
    add_algorithms(unified, plan, input);
    for (int i = 0; i < count; i++)
        add_arms(unified, plan, &summaries[i]);
    status = sg_unify_sites(unified, plan);
    if (status == SG_OK)
        status = sg_unify_comms(unified, plan);
    if (status == SG_OK && unified->strings.failed)
        status = SG_ERR_MEMORY;
    if (status != SG_OK)
        goto err_clear;
    unified->partial = input->partial || count < input->world_size;
    for (int i = 0; i < count; i++) {
        unified->dropped += summaries[i].dropped;
        unified->partial |= !summaries[i].finished;
    }
    unified->partial |= unified->dropped > 0;
    return SG_OK;

err_clear:
    sg_plan_clear(plan);
    sg_unified_clear(unified);
    return status;
}

void sg_unified_clear(struct sg_unified *unified)
{
    for (int i = 0; i < unified->summary_count; i++)
        sg_summary_clear(&unified->summaries[i]);
    for (uint32_t i = 0; i < unified->comm_count; i++)
        free(unified->comms[i].members);
    sg_strings_clear(&unified->strings);
    free(unified->summaries);
    free(unified->by_rank);
    free(unified->sites);
    free(unified->comms);
    *unified = (struct sg_unified){0};
}
