#include "trace/export/plan_windows.h"

#include "core/hash.h"

#include <stdlib.h>

int sg_plan_windows_compare(const void *a, const void *b)
{
    const struct sg_plan_window *left = a, *right = b;

    if (left->identity != right->identity)
        return left->identity > right->identity ? 1 : -1;
    if (left->comm_ordinal != right->comm_ordinal)
        return left->comm_ordinal > right->comm_ordinal ? 1 : -1;
    return (left->ordinal > right->ordinal) - (left->ordinal < right->ordinal);
}

int sg_plan_groups_compare(const void *a, const void *b)
{
    const struct sg_plan_group *left = a, *right = b;

    if (left->hash != right->hash)
        return left->hash > right->hash ? 1 : -1;
    return (left->size > right->size) - (left->size < right->size);
}

uint64_t sg_plan_group_hash(const uint32_t *members, uint32_t size)
{
    return sg_hash_bytes(SG_HASH_START, members, size * sizeof *members);
}

const struct sg_plan_window *sg_plan_find_window(const struct sg_plan_windows *windows,
                                                 const struct sg_plan_window *key)
{
    const struct sg_plan_window *found = windows->window_count == 0
                                             ? NULL
                                             : bsearch(key, windows->windows, windows->window_count,
                                                       sizeof *key, sg_plan_windows_compare);

    return found != NULL && found->ref != SG_NO_WINDOW ? found : NULL;
}

bool sg_plan_find_group(const struct sg_plan_windows *windows, const struct sg_group_entry *group,
                        uint32_t *ref)
{
    struct sg_plan_group key = {.size = group->size};
    const struct sg_plan_group *found;

    if (group->members == NULL || windows->group_count == 0)
        return false;
    key.hash = sg_plan_group_hash(group->members, group->size);
    found =
        bsearch(&key, windows->groups, windows->group_count, sizeof key, sg_plan_groups_compare);
    if (found != NULL)
        *ref = found->ref;
    return found != NULL;
}

void sg_plan_windows_pack(struct sg_pack *pack, struct sg_plan_windows *windows)
{
    sg_pack_table(pack, &windows->windows, &windows->window_count, sizeof *windows->windows);
    for (uint32_t i = 0; i < windows->window_count; i++) {
        SG_PACK(pack, windows->windows[i].identity);
        SG_PACK(pack, windows->windows[i].comm_ordinal);
        SG_PACK(pack, windows->windows[i].ordinal);
        SG_PACK(pack, windows->windows[i].ref);
        SG_PACK(pack, windows->windows[i].has_life);
        sg_intervals_pack(pack, &windows->windows[i].kept);
    }
    sg_pack_plain_table(pack, &windows->groups, &windows->group_count, sizeof *windows->groups);
}

void sg_plan_windows_clear(struct sg_plan_windows *windows)
{
    for (uint32_t i = 0; i < windows->window_count; i++)
        sg_intervals_clear(&windows->windows[i].kept);
    free(windows->windows);
    free(windows->groups);
}
