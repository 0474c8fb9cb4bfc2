#include "trace/export/unify_views.h"

#include <stdlib.h>

/* True when the views agree: one size, each rank once, each where the member list says. */
static bool views_agree(const struct sg_gathering *gathering, const uint32_t *members)
{
    for (uint32_t i = 0; i < gathering->count; i++) {
        const struct sg_comm_view *view = &gathering->views[i];

        if (view->comm->size != gathering->views[0].comm->size ||
            (i > 0 && view->comm->rank == view[-1].comm->rank) ||
            members[view->comm->rank] != (uint32_t)view->summary->rank)
            return false;
    }
    return true;
}

/* False when a rank is a member twice or not of the world, or when out of memory. */
static bool are_distinct(const uint32_t *members, uint32_t size, uint32_t world_size)
{
    bool *seen = calloc(world_size, sizeof *seen);
    bool distinct = seen != NULL;

    for (uint32_t i = 0; i < size && distinct; i++) {
        distinct = members[i] < world_size && !seen[members[i]];
        if (distinct)
            seen[members[i]] = true;
    }
    free(seen);
    return distinct;
}

enum sg_status sg_gathering_find_members(struct sg_gathering *gathering)
{
    const struct sg_comm_view *views = gathering->views;
    uint32_t size = views[0].comm->size;
    uint32_t *members = malloc(size * sizeof *members);
    const uint32_t *known = NULL;

    if (members == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < gathering->count; i++) {
        if (views[i].comm->members != NULL && views[i].comm->size == size)
            known = views[i].comm->members;
    }
    for (uint32_t i = 0; i < size; i++)
        members[i] = known != NULL ? known[i] : UINT32_MAX;
    for (uint32_t i = 0; known == NULL && i < gathering->count; i++) {
        if (views[i].comm->rank < size)
            members[views[i].comm->rank] = (uint32_t)views[i].summary->rank;
    }
    for (uint32_t i = 0; known == NULL && i < size; i++) {
        if (members[i] == UINT32_MAX)
            goto unknown;
    }
    if (!views_agree(gathering, members) ||
        !are_distinct(members, size, (uint32_t)views[0].summary->world_size))
        goto unknown;
    gathering->members = members;
    gathering->complete = gathering->count == size;
    return SG_OK;

unknown:
    free(members);
    return SG_OK;
}

enum sg_status sg_views_keep(const struct sg_comm_view *views, uint32_t count, bool complete,
                             struct sg_intervals *kept, uint64_t *lost)
{
    uint64_t recorded = 0;

    if (complete && !sg_intervals_fill(kept))
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        recorded += sg_intervals_size(&views[i].comm->recorded);
        if (complete && !sg_intervals_intersect(kept, &views[i].comm->recorded))
            return SG_ERR_MEMORY;
    }
    *lost += recorded - count * sg_intervals_size(kept);
    return SG_OK;
}
