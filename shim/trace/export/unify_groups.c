/* An intercommunicator as several ranks know it: its two groups, in one order for all of them. Each
 * rank 0 tells both groups, its own first; one of them is enough. */
#include "trace/export/unify_views.h"

#include <stdlib.h>
#include <string.h>

/* In the order of all: the first rank of the first group is the lower one. */
static uint32_t *in_order(const struct sg_comm_entry *told, uint32_t sizes[2])
{
    uint32_t own = told->size, remote = told->remote_size;
    bool is_first = told->members[0] < told->members[own];
    uint32_t *members = malloc(((size_t)own + remote) * sizeof *members);

    if (members == NULL)
        return NULL;
    memcpy(members + (is_first ? 0 : remote), told->members, own * sizeof *members);
    memcpy(members + (is_first ? own : 0), told->members + own, remote * sizeof *members);
    sizes[0] = is_first ? own : remote;
    sizes[1] = is_first ? remote : own;
    return members;
}

/* The place of a view's rank among all members; UINT32_MAX: they contradict each other. */
static uint32_t place_of(const struct sg_comm_view *view, const uint32_t *members,
                         const uint32_t sizes[2])
{
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t at = view->comm->rank + (side == 0 ? 0 : sizes[0]);

        if (view->comm->size == sizes[side] && view->comm->remote_size == sizes[1 - side] &&
            view->comm->rank < sizes[side] && members[at] == (uint32_t)view->summary->rank)
            return at;
    }
    return UINT32_MAX;
}

/* Whether nobody is there twice: seen is zeroed, one for each rank of the world. */
static bool are_distinct(const uint32_t *members, uint32_t count, bool *seen)
{
    for (uint32_t i = 0; i < count; i++) {
        if (seen[members[i]])
            return false;
        seen[members[i]] = true;
    }
    return true;
}

static bool views_agree(const struct sg_gathering *gathering, const uint32_t *members, bool *seen)
{
    for (uint32_t i = 0; i < gathering->count; i++) {
        uint32_t at = place_of(&gathering->views[i], members, gathering->sizes);

        if (at == UINT32_MAX || !seen[members[at]])
            return false;
        seen[members[at]] = false;
    }
    return true;
}

enum sg_status sg_gathering_find_groups(struct sg_gathering *gathering)
{
    uint32_t world_size = (uint32_t)gathering->views[0].summary->world_size;
    const struct sg_comm_entry *told = NULL;
    enum sg_status status = SG_ERR_MEMORY;
    uint32_t *members;
    bool *seen;

    for (uint32_t i = 0; i < gathering->count && told == NULL; i++) {
        if (gathering->views[i].comm->members != NULL && gathering->views[i].comm->remote_size > 0)
            told = gathering->views[i].comm;
    }
    if (told == NULL)
        return SG_OK;
    members = in_order(told, gathering->sizes);
    seen = calloc(world_size, sizeof *seen);
    if (members == NULL || seen == NULL)
        goto done;
    status = SG_OK;
    if (are_distinct(members, gathering->sizes[0] + gathering->sizes[1], seen) &&
        views_agree(gathering, members, seen)) {
        gathering->members = members;
        gathering->complete = gathering->count == gathering->sizes[0] + gathering->sizes[1];
        members = NULL;
    }
done:
    free(members);
    free(seen);
    return status;
}
