/* A sequence of items, each in a group: ranks on nodes, nodes on machines. Groups are numbered in
 * the order of their first items, and a group's items in their own order.
 *
 * Runs describe the sequence. Items that are placed by blocks are one run, items that are dealt out
 * in turns one run a turn, whatever their number is; only a sequence without any order has as many
 * runs as items. Reading needs no memory, from any thread and in signal handlers. */
#ifndef SG_CORE_GROUPING_H
#define SG_CORE_GROUPING_H

#include <stdbool.h>
#include <stdint.h>

/* Item first + i is in group + i / width, and its number there is number + i % width. */
struct sg_group_run {
    int32_t first, group, number, width;
    int32_t before; /* groups whose first items come before this run */
};

struct sg_grouping {
    int items, groups;
    int most;         /* items in the largest group */
    bool is_in_order; /* the items of each group follow one another */
    int run_count;
    const struct sg_group_run *runs;
};

struct sg_group_place {
    int group, number;
};

/* Both take a logarithm of the number of runs. Precondition: there is such an item or group. */
struct sg_group_place sg_grouping_place(const struct sg_grouping *grouping, int item);
int sg_grouping_first(const struct sg_grouping *grouping, int group);

/* Both look at each run. Returns -1 if there is no such item. */
int sg_grouping_item(const struct sg_grouping *grouping, int group, int number);
int sg_grouping_size(const struct sg_grouping *grouping, int group);

/* Makes a grouping of items that are added one by one, by keys below key_count. */
struct sg_grouping_maker {
    struct sg_grouping grouping;
    struct sg_group_run *runs;
    struct sg_group_place *next_of; /* by key: 1 + group, and the number of its next item */
    int capacity, last;       /* last: items of the last run */
};

/* False: no memory. In either case end releases all memory but the runs, which the caller frees;
 * NULL if memory was short at any time. */
bool sg_grouping_begin(struct sg_grouping_maker *maker, int key_count);
void sg_grouping_add(struct sg_grouping_maker *maker, int key);
const struct sg_group_run *sg_grouping_end(struct sg_grouping_maker *maker,
                                           struct sg_grouping *out);

#endif
