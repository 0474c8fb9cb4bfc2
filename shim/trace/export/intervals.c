#include "trace/export/intervals.h"

#include "core/room.h"

static bool append(struct sg_intervals *set, uint64_t first, uint64_t last)
{
    if (!sg_make_room((void **)&set->runs, set->count, sizeof *set->runs))
        return false;
    set->runs[set->count++] = (struct sg_interval){first, last};
    return true;
}

bool sg_intervals_add(struct sg_intervals *set, uint64_t number)
{
    struct sg_interval *last = set->count > 0 ? &set->runs[set->count - 1] : NULL;

    if (last != NULL && last->last != UINT64_MAX && number == last->last + 1) {
        last->last = number;
        return true;
    }
    return append(set, number, number);
}

static int by_first(const void *a, const void *b)
{
    const struct sg_interval *left = a;
    const struct sg_interval *right = b;

    return (left->first > right->first) - (left->first < right->first);
}

bool sg_intervals_finish(struct sg_intervals *set)
{
    uint32_t kept = 0;

    if (set->count < 2)
        return true;
    qsort(set->runs, set->count, sizeof *set->runs, by_first);
    for (uint32_t i = 1; i < set->count; i++) {
        struct sg_interval *last = &set->runs[kept];

        if (set->runs[i].first <= last->last) {
            set->count = 0;
            return false;
        }
        if (set->runs[i].first == last->last + 1)
            last->last = set->runs[i].last;
        else
            set->runs[++kept] = set->runs[i];
    }
    set->count = kept + 1;
    return true;
}

bool sg_intervals_contain(const struct sg_intervals *set, uint64_t number)
{
    uint32_t low = 0, high = set->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (set->runs[middle].last < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set->count && set->runs[low].first <= number;
}

uint64_t sg_intervals_size(const struct sg_intervals *set)
{
    uint64_t size = 0;

    for (uint32_t i = 0; i < set->count; i++)
        size += set->runs[i].last - set->runs[i].first + 1;
    return size;
}

bool sg_intervals_fill(struct sg_intervals *set)
{
    return append(set, 0, UINT64_MAX);
}

bool sg_intervals_intersect(struct sg_intervals *set, const struct sg_intervals *other)
{
    struct sg_intervals both = {0};
    uint32_t i = 0, j = 0;

    while (i < set->count && j < other->count) {
        const struct sg_interval *a = &set->runs[i];
        const struct sg_interval *b = &other->runs[j];
        uint64_t first = a->first > b->first ? a->first : b->first;
        uint64_t last = a->last < b->last ? a->last : b->last;

        if (first <= last && !append(&both, first, last)) {
            sg_intervals_clear(&both);
            return false;
        }
        if (a->last < b->last)
            i++;
        else
            j++;
    }
    sg_intervals_clear(set);
    *set = both;
    return true;
}

void sg_intervals_pack(struct sg_pack *pack, struct sg_intervals *set)
{
    sg_pack_plain_table(pack, &set->runs, &set->count, sizeof *set->runs);
}

void sg_intervals_clear(struct sg_intervals *set)
{
    free(set->runs);
    *set = (struct sg_intervals){0};
}
