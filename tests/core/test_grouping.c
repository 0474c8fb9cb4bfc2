/* Tests groupings against tables by item. */
#include "core/grouping.h"
#include "lib/unit.h"

#include <stdlib.h>

enum { MOST = 100000, KEYS = MOST };

static int key_of[MOST], group_of[MOST], number_of[MOST], first_of[MOST], size_of[MOST];
static struct sg_grouping grouping;

static void make(int count)
{
    struct sg_grouping_maker maker;

    ASSERT(sg_grouping_begin(&maker, KEYS));
    for (int i = 0; i < count; i++)
        sg_grouping_add(&maker, key_of[i]);
    ASSERT(sg_grouping_end(&maker, &grouping) != NULL, grouping.items == count);
}

/* Numbers the items anew; true if the grouping says the same, both ways. */
static bool is_right(int count)
{
    static int group_by_key[KEYS];
    int groups = 0, most = 0;
    bool is_in_order = true, same = true;

    memset(group_by_key, 0, sizeof group_by_key);
    for (int i = 0; i < count; i++) {
        int *group = &group_by_key[key_of[i]];

        if (*group == 0) {
            first_of[groups] = i;
            size_of[groups] = 0;
            *group = ++groups;
        }
        is_in_order = is_in_order && *group == groups;
        group_of[i] = *group - 1;
        number_of[i] = size_of[*group - 1]++;
        most = size_of[*group - 1] > most ? size_of[*group - 1] : most;
    }
    for (int i = 0; i < count && same; i += 1 + count / 500) {
        struct sg_group_place place = sg_grouping_place(&grouping, i);

        same = place.group == group_of[i] && place.number == number_of[i] &&
               sg_grouping_item(&grouping, group_of[i], number_of[i]) == i;
    }
    for (int group = 0; group < groups && same; group += 1 + groups / 500)
        same = sg_grouping_first(&grouping, group) == first_of[group] &&
               sg_grouping_size(&grouping, group) == size_of[group] &&
               sg_grouping_item(&grouping, group, size_of[group]) == -1;
    return same && grouping.groups == groups && grouping.most == most &&
           grouping.is_in_order == is_in_order;
}

static void lose(void)
{
    free((void *)grouping.runs);
}

TEST("random sequences read back as they were added")
{
    srand(1);
    for (int round = 0; round < 400; round++) {
        int count = 1 + rand() % 300, keys = 1 + rand() % 40, stays = rand() % 4;

        for (int i = 0; i < count; i++)
            key_of[i] = i > 0 && rand() % 4 < stays ? key_of[i - 1] : rand() % keys;
        make(count);
        EXPECT(is_right(count));
        lose();
    }
}

TEST("blocks are one run, turns a run each, however many items there are")
{
    for (int each = 1; each <= 96; each = each * 3 + 1) {
        for (int i = 0; i < MOST; i++)
            key_of[i] = i / each;
        make(MOST);
        EXPECT(is_right(MOST), grouping.run_count == 1, grouping.is_in_order);
        lose();
        for (int i = 0; i < MOST; i++)
            key_of[i] = i % (MOST / each);
        make(MOST);
        EXPECT(is_right(MOST), grouping.run_count <= each + 1);
        lose();
    }
}

TEST("a grid's columns, and blocks from the middle of a node on, take few runs")
{
    for (int i = 0; i < 1000; i++)
        key_of[i] = (i * 16 + 5) / 64;
    make(1000);
    EXPECT(is_right(1000), grouping.run_count <= 3);
    lose();
    for (int i = 0; i < 1000; i++)
        key_of[i] = (i + 62) / 64;
    make(1000);
    EXPECT(is_right(1000), grouping.run_count <= 3);
    lose();
}
