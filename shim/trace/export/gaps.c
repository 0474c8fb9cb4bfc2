#include "trace/export/gaps.h"

#include "core/room.h"

#include <stdlib.h>

enum sg_status sg_gaps_read(struct sg_gaps *gaps, const struct sg_record_gap *record)
{
    if (!sg_make_room((void **)&gaps->items, gaps->count, sizeof *gaps->items))
        return SG_ERR_MEMORY;
    gaps->items[gaps->count++] = (struct sg_gap){record->slot, record->is_send != 0, record->count};
    return SG_OK;
}

static int by_slot(const void *a, const void *b)
{
    const struct sg_gap *left = a, *right = b;

    if (left->slot != right->slot)
        return left->slot > right->slot ? 1 : -1;
    return left->is_send - right->is_send;
}

void sg_gaps_finish(struct sg_gaps *gaps)
{
    if (gaps->count > 1)
        qsort(gaps->items, gaps->count, sizeof *gaps->items, by_slot);
}

uint32_t sg_gaps_before(const struct sg_gaps *gaps, uint64_t slot, bool is_send)
{
    const struct sg_gap key = {.slot = slot, .is_send = is_send};
    const struct sg_gap *found =
        gaps->count > 0 ? bsearch(&key, gaps->items, gaps->count, sizeof key, by_slot) : NULL;

    return found != NULL ? found->count : 0;
}

void sg_gaps_clear(struct sg_gaps *gaps)
{
    free(gaps->items);
    *gaps = (struct sg_gaps){0};
}
