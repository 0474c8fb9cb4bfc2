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

uint32_t *sg_summary_table_read_words(const char *text, uint32_t text_bytes, uint32_t first,
                                      uint32_t count)
{
    size_t begin_bytes = ((strlen(text) + 1 + 3) & ~(size_t)3) + (size_t)first * sizeof(uint32_t);
    size_t size_bytes = (size_t)count * sizeof(uint32_t);
    uint32_t *words;

    if (begin_bytes + size_bytes > text_bytes)
        return NULL;
    words = malloc(size_bytes);
    if (words != NULL)
        memcpy(words, text + begin_bytes, size_bytes);
    return words;
}

uint32_t *sg_summary_table_read_members(const char *text, uint32_t text_bytes, uint32_t count,
                                        int32_t world_size)
{
    uint32_t *members = sg_summary_table_read_words(text, text_bytes, 0, count);

    for (uint32_t i = 0; members != NULL && i < count; i++) {
        if (members[i] >= (uint32_t)world_size) {
            free(members);
            return NULL;
        }
    }
    return members;
}
