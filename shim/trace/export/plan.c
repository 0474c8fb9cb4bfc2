#include "trace/export/plan.h"

#include "core/hash.h"
#include "trace/export/vocabulary.h"

#include <stdlib.h>
#include <string.h>

void sg_plan_pack(struct sg_pack *pack, struct sg_plan *plan)
{
    sg_pack_plain_table(pack, &plan->sites, &plan->site_count, sizeof *plan->sites);
    sg_pack_plain_table(pack, &plan->frames, &plan->frame_count, sizeof *plan->frames);
    sg_pack_table(pack, &plan->comms, &plan->comm_count, sizeof *plan->comms);
    for (uint32_t i = 0; i < plan->comm_count; i++) {
        SG_PACK(pack, plan->comms[i].root_world_rank);
        SG_PACK(pack, plan->comms[i].root_counter);
        SG_PACK(pack, plan->comms[i].ref);
        sg_intervals_pack(pack, &plan->comms[i].kept);
    }
    sg_intervals_pack(pack, &plan->world_kept);
    sg_pack_table(pack, &plan->profile_comms, &plan->profile_comm_count,
                  sizeof *plan->profile_comms);
    for (uint32_t i = 0; i < plan->profile_comm_count; i++) {
        SG_PACK(pack, plan->profile_comms[i].identity);
        SG_PACK(pack, plan->profile_comms[i].ordinal);
        SG_PACK(pack, plan->profile_comms[i].ref);
        sg_intervals_pack(pack, &plan->profile_comms[i].kept);
    }
    sg_pack_plain_table(pack, &plan->functions, &plan->function_count, sizeof *plan->functions);
    sg_plan_windows_pack(pack, &plan->windows);
    sg_pack_plain_table(pack, &plan->algorithms, &plan->algorithm_count, sizeof *plan->algorithms);
    SG_PACK(pack, plan->arms);
}

void sg_plan_clear(struct sg_plan *plan)
{
    for (uint32_t i = 0; i < plan->comm_count; i++)
        sg_intervals_clear(&plan->comms[i].kept);
    for (uint32_t i = 0; i < plan->profile_comm_count; i++)
        sg_intervals_clear(&plan->profile_comms[i].kept);
    sg_intervals_clear(&plan->world_kept);
    sg_plan_windows_clear(&plan->windows);
    free(plan->profile_comms);
    free(plan->functions);
    free(plan->sites);
    free(plan->frames);
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

const struct sg_plan_site *sg_plan_find_site(const struct sg_plan *plan, uint32_t id)
{
    struct sg_plan_site key = {.id = id};
    const struct sg_plan_site *site =
        plan->site_count == 0 ? NULL
                              : bsearch(&key, plan->sites, plan->site_count, sizeof key, by_id);

    return site == NULL && id != 0 ? sg_plan_find_site(plan, 0) : site;
}

static int by_identity(const void *a, const void *b)
{
    const struct sg_plan_comm *left = a;
    const struct sg_plan_comm *right = b;

    if (left->root_world_rank != right->root_world_rank)
        return left->root_world_rank > right->root_world_rank ? 1 : -1;
    return (left->root_counter > right->root_counter) - (left->root_counter < right->root_counter);
}

const struct sg_plan_comm *sg_plan_find_comm(const struct sg_plan *plan,
                                             const struct sg_comm_entry *comm)
{
    struct sg_plan_comm key = {.root_world_rank = comm->root_world_rank,
                               .root_counter = comm->root_counter};

    if (comm->index <= SG_COMM_SELF_INDEX || plan->comm_count == 0)
        return NULL;
    return bsearch(&key, plan->comms, plan->comm_count, sizeof key, by_identity);
}

uint32_t sg_plan_comm_ref(const struct sg_plan *plan, const struct sg_comm_entry *comm)
{
    const struct sg_plan_comm *found = sg_plan_find_comm(plan, comm);

    if (comm->index == SG_COMM_WORLD_INDEX)
        return SG_COMM_WORLD_REF;
    if (comm->index == SG_COMM_SELF_INDEX)
        return SG_COMM_SELF_REF;
    return found != NULL ? found->ref : SG_NO_COMM;
}

bool sg_plan_keeps(const struct sg_plan *plan, const struct sg_comm_entry *comm, uint32_t seq)
{
    const struct sg_plan_comm *found = sg_plan_find_comm(plan, comm);

    if (comm->index == SG_COMM_SELF_INDEX)
        return sg_intervals_contain(&comm->recorded, seq);
    if (comm->index == SG_COMM_WORLD_INDEX)
        return sg_intervals_contain(&plan->world_kept, seq);
    return found != NULL && found->ref != SG_NO_COMM && sg_intervals_contain(&found->kept, seq);
}

/* ---- of the events of all calls ------------------------------------------------------------- */

static int by_identity_and_ordinal(const void *a, const void *b)
{
    const struct sg_plan_profile_comm *left = a;
    const struct sg_plan_profile_comm *right = b;

    if (left->identity != right->identity)
        return left->identity > right->identity ? 1 : -1;
    return (left->ordinal > right->ordinal) - (left->ordinal < right->ordinal);
}

const struct sg_plan_profile_comm *
sg_plan_find_profile_comm(const struct sg_plan *plan, const struct sg_profile_comm_entry *comm)
{
    struct sg_plan_profile_comm key = {.identity = comm->identity, .ordinal = comm->ordinal};

    return plan->profile_comm_count == 0
               ? NULL
               : bsearch(&key, plan->profile_comms, plan->profile_comm_count, sizeof key,
                         by_identity_and_ordinal);
}

uint64_t sg_plan_name_hash(const char *name)
{
    return sg_hash_bytes(SG_HASH_START, name, strlen(name));
}

int sg_plan_by_name_hash(const void *a, const void *b)
{
    const struct sg_plan_function *left = a;
    const struct sg_plan_function *right = b;

    return (left->name_hash > right->name_hash) - (left->name_hash < right->name_hash);
}

bool sg_plan_find_region(const struct sg_plan *plan, const char *name, uint32_t *region)
{
    struct sg_plan_function key = {.name_hash = sg_plan_name_hash(name)};
    const struct sg_plan_function *found =
        plan->function_count == 0 ? NULL
                                  : bsearch(&key, plan->functions, plan->function_count, sizeof key,
                                            sg_plan_by_name_hash);

    if (found != NULL)
        *region = found->region;
    return found != NULL;
}
