#include "core/grouping.h"

#include <stdlib.h>

#define ONE_GROUP INT32_MAX /* the width of a run in one group */

static int end_of(const struct sg_grouping *grouping, int run)
{
    return run + 1 < grouping->run_count ? grouping->runs[run + 1].first : grouping->items;
}

static struct sg_group_place place_in(const struct sg_group_run *run, int item)
{
    int offset = item - run->first;

    return (struct sg_group_place){run->group + offset / run->width,
                                   run->number + offset % run->width};
}

/* Returns the last run whose first item, or whose number of groups before it, is at most `most`. */
static int last_run(const struct sg_grouping *grouping, bool by_groups, int most)
{
    int low = 0, high = grouping->run_count - 1;

    while (low < high) {
        int middle = (low + high + 1) / 2;
        const struct sg_group_run *run = &grouping->runs[middle];

        if ((by_groups ? run->before : run->first) <= most)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

struct sg_group_place sg_grouping_place(const struct sg_grouping *grouping, int item)
{
    return place_in(&grouping->runs[last_run(grouping, false, item)], item);
}

/* Returns the item, if the run has it; else -1. */
static int find_in(const struct sg_grouping *grouping, int index, int group, int number)
{
    const struct sg_group_run *run = &grouping->runs[index];
    int64_t at = number - run->number, item;

    if (group < run->group || at < 0 || at >= run->width)
        return -1;
    item = run->first + (int64_t)(group - run->group) * run->width + at;
    return item < end_of(grouping, index) ? (int)item : -1;
}

/* The last run with no more groups before it has the group's first item. */
int sg_grouping_first(const struct sg_grouping *grouping, int group)
{
    return find_in(grouping, last_run(grouping, true, group), group, 0);
}

int sg_grouping_item(const struct sg_grouping *grouping, int group, int number)
{
    int item = -1;

    for (int run = 0; run < grouping->run_count && item < 0; run++)
        item = find_in(grouping, run, group, number);
    return item;
}

int sg_grouping_size(const struct sg_grouping *grouping, int group)
{
    int64_t size = 0;

    for (int index = 0; index < grouping->run_count; index++) {
        const struct sg_group_run *run = &grouping->runs[index];
        int64_t from = (int64_t)(group - run->group) * run->width;
        int64_t left = end_of(grouping, index) - run->first - from;

        if (group >= run->group && left > 0)
            size += left < run->width ? left : run->width;
    }
    return (int)size;
}

/* ---- making ---------------------------------------------------------------------------------- */

bool sg_grouping_begin(struct sg_grouping_maker *maker, int key_count)
{
    *maker = (struct sg_grouping_maker){.grouping.is_in_order = true};
    maker->next_of = calloc((size_t)key_count, sizeof *maker->next_of);
    return maker->next_of != NULL;
}

/* Without memory, `runs` becomes NULL and stays so. */
static void add_run(struct sg_grouping_maker *maker, struct sg_group_place place, int before)
{
    struct sg_grouping *grouping = &maker->grouping;

    if (grouping->run_count == maker->capacity) {
        int capacity = maker->capacity > 0 ? 2 * maker->capacity : 4;
        struct sg_group_run *runs = realloc(maker->runs, (size_t)capacity * sizeof *runs);

        if (runs == NULL) {
            free(maker->runs);
            free(maker->next_of);
            maker->runs = NULL;
            maker->next_of = NULL;
            return;
        }
        maker->runs = runs;
        maker->capacity = capacity;
    }
    maker->runs[grouping->run_count++] =
        (struct sg_group_run){grouping->items, place.group, place.number, ONE_GROUP, before};
    maker->last = 0;
}

/* True if the item continues the last run, whose width the first item of another group decides. */
static bool goes_on(struct sg_grouping_maker *maker, struct sg_group_place place)
{
    struct sg_group_run *run = &maker->runs[maker->grouping.run_count - 1];
    struct sg_group_place next;

    if (run->width == ONE_GROUP && place.group == run->group + 1 && place.number == run->number)
        run->width = maker->last;
    next = place_in(run, maker->grouping.items);
    return next.group == place.group && next.number == place.number;
}

void sg_grouping_add(struct sg_grouping_maker *maker, int key)
{
    struct sg_grouping *grouping = &maker->grouping;
    int before = grouping->groups;
    struct sg_group_place *next, place;

    if (maker->next_of == NULL)
        return;
    next = &maker->next_of[key];
    if (next->group == 0)
        next->group = ++grouping->groups;
    else if (next->group < grouping->groups)
        grouping->is_in_order = false;
    place = (struct sg_group_place){next->group - 1, next->number++};
    grouping->most = next->number > grouping->most ? next->number : grouping->most;
    if (grouping->items == 0 || !goes_on(maker, place))
        add_run(maker, place, before);
    maker->last++;
    grouping->items++;
}

const struct sg_group_run *sg_grouping_end(struct sg_grouping_maker *maker, struct sg_grouping *out)
{
    free(maker->next_of);
    *out = maker->grouping;
    out->runs = maker->runs;
    return maker->runs;
}
