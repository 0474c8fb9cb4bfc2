/* Linear probing at a load of at most one half. */
#include "report/map.h"

#include "core/hash.h"

#include <stdbool.h>
#include <stdlib.h>

#define FIRST_CAPACITY 64

struct sg_map_entry {
    uint64_t key;
    uint32_t value;
    bool used;
};

static struct sg_map_entry *find(const struct sg_map *map, uint64_t key)
{
    size_t at = sg_hash_mix(key) & (map->capacity - 1);

    while (map->entries[at].used && map->entries[at].key != key)
        at = (at + 1) & (map->capacity - 1);
    return &map->entries[at];
}

static enum sg_status grow(struct sg_map *map)
{
    struct sg_map larger = {.capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY,
                            .count = map->count};

    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL)
        return SG_ERR_MEMORY;
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->entries[i].used)
            *find(&larger, map->entries[i].key) = map->entries[i];
    }
    free(map->entries);
    *map = larger;
    return SG_OK;
}

enum sg_status sg_map_put(struct sg_map *map, uint64_t key, uint32_t value)
{
    struct sg_map_entry *entry;

    if (map->count * 2 >= map->capacity) {
        enum sg_status status = grow(map);

        if (status != SG_OK)
            return status;
    }
    entry = find(map, key);
    if (!entry->used)
        map->count++;
    *entry = (struct sg_map_entry){.key = key, .value = value, .used = true};
    return SG_OK;
}

int64_t sg_map_get(const struct sg_map *map, uint64_t key)
{
    const struct sg_map_entry *entry;

    if (map->capacity == 0)
        return -1;
    entry = find(map, key);
    return entry->used ? (int64_t)entry->value : -1;
}

int64_t sg_map_number(struct sg_map *map, uint64_t key, uint32_t count, bool *is_new)
{
    int64_t found = sg_map_get(map, key);

    *is_new = found < 0 && sg_map_put(map, key, count) == SG_OK;
    return *is_new ? (int64_t)count : found;
}

void sg_map_clear(struct sg_map *map)
{
    free(map->entries);
    *map = (struct sg_map){0};
}
