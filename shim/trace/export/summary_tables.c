#include "trace/export/summary_tables.h"

#include "core/room.h"

void *sg_summary_table_add(void *table, uint32_t *count, size_t item_bytes)
{
    void **items = table;

    if (!sg_make_room(items, *count, item_bytes))
        return NULL;
    return memset((unsigned char *)*items + (size_t)(*count)++ * item_bytes, 0, item_bytes);
}

int sg_summary_table_by_index(const void *a, const void *b)
{
    const uint32_t *left = a;
    const uint32_t *right = b;

    return (*left > *right) - (*left < *right);
}

void sg_summary_table_sort(void *table, uint32_t *count, size_t item_bytes,
                           void (*clear_item)(void *item))
{
    unsigned char *items = table;
    uint32_t kept = 0;

    if (*count > 1)
        qsort(items, *count, item_bytes, sg_summary_table_by_index);
    for (uint32_t i = 0; i < *count; i++) {
        unsigned char *item = items + i * item_bytes;

        if (kept > 0 && sg_summary_table_by_index(items + (kept - 1) * item_bytes, item) == 0) {
            clear_item(item);
            continue;
        }
        if (kept != i)
            memcpy(items + kept * item_bytes, item, item_bytes);
        kept++;
    }
    *count = kept;
}

uint32_t *sg_summary_table_read_members(const char *text, uint32_t text_bytes, uint32_t count,
                                        int32_t world_size)
{
    size_t name_bytes = (strlen(text) + 1 + 3) & ~(size_t)3;
    size_t member_bytes = (size_t)count * sizeof(uint32_t);
    uint32_t *members;

    if (name_bytes + member_bytes > text_bytes)
        return NULL;
    members = malloc(member_bytes);
    if (members == NULL)
        return NULL;
    memcpy(members, text + name_bytes, member_bytes);
    for (uint32_t i = 0; i < count; i++) {
        if (members[i] >= (uint32_t)world_size) {
            free(members);
            return NULL;
        }
    }
    return members;
}
