/* A hash map from 64-bit keys to 32-bit values. Keys are an archive's references, which may be
 * sparse (location ids are rank + thread * 2^32), or pairs of them; values are indices of arrays.
 *
 * Open addressing, never shrinks, no removal. Zero-initialised is empty. Not thread-safe.
 */
#ifndef SG_REPORT_MAP_H
#define SG_REPORT_MAP_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_map {
    struct sg_map_entry *entries;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
};

/* Sets or replaces. SG_ERR_MEMORY only (not logged). */
enum sg_status sg_map_put(struct sg_map *map, uint64_t key, uint32_t value);

/* The value, or -1. */
int64_t sg_map_get(const struct sg_map *map, uint64_t key);

/* For values that number what the keys stand for: the key's value, or, *is_new, `count`, which is
 * then set. -1: out of memory; *is_new is false. */
int64_t sg_map_number(struct sg_map *map, uint64_t key, uint32_t count, bool *is_new);

void sg_map_clear(struct sg_map *map);

#endif
