#include "trace/export/plan.h"

void sg_plan_put(struct sg_bytes *bytes, const struct sg_plan *plan)
{
    sg_bytes_put_u32(bytes, plan->site_count);
    for (uint32_t i = 0; i < plan->site_count; i++) {
        sg_bytes_put_u32(bytes, plan->sites[i].id);
        sg_bytes_put_u32(bytes, plan->sites[i].text);
    }
    sg_bytes_put_u32(bytes, plan->comm_count);
    for (uint32_t i = 0; i < plan->comm_count; i++) {
        sg_bytes_put_u32(bytes, plan->comms[i].root_world_rank);
        sg_bytes_put_u32(bytes, plan->comms[i].root_counter);
        sg_bytes_put_u32(bytes, plan->comms[i].ref);
        sg_intervals_put(bytes, &plan->comms[i].kept);
    }
    sg_intervals_put(bytes, &plan->world_kept);
    sg_bytes_put_u32(bytes, plan->algorithm_count);
    sg_bytes_put(bytes, plan->algorithms, plan->algorithm_count * sizeof *plan->algorithms);
    sg_bytes_put(bytes, plan->arms, sizeof plan->arms);
}

static bool take_comms(struct sg_cursor *cursor, struct sg_plan *plan)
{
    uint32_t count = sg_cursor_count(cursor, 16);

    plan->comms = calloc(count + 1, sizeof *plan->comms);
    for (; plan->comms != NULL && plan->comm_count < count; plan->comm_count++) {
        struct sg_plan_comm *comm = &plan->comms[plan->comm_count];

        comm->root_world_rank = sg_cursor_u32(cursor);
        comm->root_counter = sg_cursor_u32(cursor);
        comm->ref = sg_cursor_u32(cursor);
        if (!sg_intervals_take(cursor, &comm->kept))
            return false;
    }
    return plan->comms != NULL;
}

enum sg_status sg_plan_take(struct sg_cursor *cursor, struct sg_plan *out)
{
    struct sg_plan plan = {.site_count = sg_cursor_count(cursor, 8)};
    const void *algorithms, *arms;

    plan.sites = calloc(plan.site_count + 1, sizeof *plan.sites);
    if (plan.sites == NULL)
        goto err_clear;
    for (uint32_t i = 0; i < plan.site_count; i++) {
        plan.sites[i].id = sg_cursor_u32(cursor);
        plan.sites[i].text = sg_cursor_u32(cursor);
    }
    if (!take_comms(cursor, &plan) || !sg_intervals_take(cursor, &plan.world_kept))
        goto err_clear;
    plan.algorithm_count = sg_cursor_count(cursor, sizeof *plan.algorithms);
    algorithms = sg_cursor_take(cursor, plan.algorithm_count * sizeof *plan.algorithms);
    plan.algorithms = calloc(plan.algorithm_count + 1, sizeof *plan.algorithms);
    arms = sg_cursor_take(cursor, sizeof plan.arms);
    if (plan.algorithms == NULL || algorithms == NULL || arms == NULL)
        goto err_clear;
    memcpy(plan.algorithms, algorithms, plan.algorithm_count * sizeof *plan.algorithms);
    memcpy(plan.arms, arms, sizeof plan.arms);
    *out = plan;
    return SG_OK;

err_clear:
    sg_plan_clear(&plan);
    return cursor->failed ? SG_ERR_FORMAT : SG_ERR_MEMORY;
}

void sg_plan_clear(struct sg_plan *plan)
{
    for (uint32_t i = 0; i < plan->comm_count; i++)
        sg_intervals_clear(&plan->comms[i].kept);
    sg_intervals_clear(&plan->world_kept);
    free(plan->sites);
    free(plan->comms);
    free(plan->algorithms);
    *plan = (struct sg_plan){0};
}

static int by_id(const void *a, const void *b)
{
    const struct sg_plan_site *left = a;
    const struct sg_plan_site *right = b;

    return (left->id > right->id) - (left->id < right->id);
}

uint32_t sg_plan_site_text(const struct sg_plan *plan, uint32_t id)
{
    struct sg_plan_site key = {.id = id};
    const struct sg_plan_site *site =
        bsearch(&key, plan->sites, plan->site_count, sizeof key, by_id);

    if (site == NULL && id != 0)
        return sg_plan_site_text(plan, 0);
    return site != NULL ? site->text : 0;
}

static int by_identity(const void *a, const void *b)
{
    const struct sg_plan_comm *left = a;
    const struct sg_plan_comm *right = b;

    if (left->root_world_rank != right->root_world_rank)
        return left->root_world_rank > right->root_world_rank ? 1 : -1;
    return (left->root_counter > right->root_counter) - (left->root_counter < right->root_counter);
}

const struct sg_plan_comm *sg_plan_find_comm(const struct sg_plan *plan, uint32_t root_world_rank,
                                             uint32_t root_counter)
{
    struct sg_plan_comm key = {.root_world_rank = root_world_rank, .root_counter = root_counter};

    return plan->comm_count == 0
               ? NULL
               : bsearch(&key, plan->comms, plan->comm_count, sizeof key, by_identity);
}
