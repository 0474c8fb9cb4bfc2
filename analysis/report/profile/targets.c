#include "report/profile/targets.h"

#include "core/room.h"

#include <stdlib.h>

static void add(struct sg_call_target *into, const struct sg_call_target *more)
{
    into->puts += more->puts;
    into->put_bytes += more->put_bytes;
    into->gets += more->gets;
    into->got_bytes += more->got_bytes;
}

enum sg_status sg_call_targets_add(struct sg_call_targets *targets,
                                   const struct sg_call_target *more)
{
    uint64_t key = (uint64_t)more->origin << 32 | more->target;
    int64_t found = sg_map_get(&targets->row_by_pair, key);

    if (found >= 0) {
        add(&targets->rows[found], more);
        return SG_OK;
    }
    if (!SG_APPEND(targets->rows, targets->count, *more))
        return SG_ERR_MEMORY;
    return sg_map_put(&targets->row_by_pair, key, targets->count - 1);
}

void sg_call_targets_add_others(struct sg_call_targets *targets, const struct sg_call_target *more)
{
    add(&targets->others, more);
}

static int order_of(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare(const void *left, const void *right)
{
    const struct sg_call_target *a = left, *b = right;
    int order = order_of(b->put_bytes + b->got_bytes, a->put_bytes + a->got_bytes);

    if (order == 0)
        order = order_of(b->puts + b->gets, a->puts + a->gets);
    if (order == 0)
        order = order_of(a->origin, b->origin);
    return order != 0 ? order : order_of(a->target, b->target);
}

void sg_call_targets_sort(struct sg_call_targets *targets)
{
    sg_map_clear(&targets->row_by_pair);
    if (targets->count > 0)
        qsort(targets->rows, targets->count, sizeof *targets->rows, compare);
}

void sg_call_targets_clear(struct sg_call_targets *targets)
{
    sg_map_clear(&targets->row_by_pair);
    free(targets->rows);
    *targets = (struct sg_call_targets){0};
}
