#include "sim/exhaustive/keys.h"

#include <stdlib.h>
#include <string.h>

#define LEAST 4096

/* Where the key is, or would be. */
static uint64_t place_of(const struct sg_keys *keys, uint64_t key)
{
    uint64_t mask = keys->capacity - 1;
    uint64_t place = (key * UINT64_C(0x9fb21c651e98df25) >> 32) & mask;

    while (keys->keys[place] != 0 && keys->keys[place] != key)
        place = (place + 1) & mask;
    return place;
}

static bool grow(struct sg_keys *keys)
{
    struct sg_keys larger = *keys;

    larger.capacity = keys->capacity ? 2 * keys->capacity : LEAST;
    larger.keys = calloc(larger.capacity, sizeof *larger.keys);
    if (keys->numbered)
        larger.numbers = calloc(larger.capacity, sizeof *larger.numbers);
    if (larger.keys == NULL || (keys->numbered && larger.numbers == NULL)) {
        free(larger.keys);
        if (keys->numbered)
            free(larger.numbers);
        return false;
    }
    for (uint64_t i = 0; i < keys->capacity; i++) {
        uint64_t place;

        if (keys->keys[i] == 0)
            continue;
        place = place_of(&larger, keys->keys[i]);
        larger.keys[place] = keys->keys[i];
        if (keys->numbered)
            larger.numbers[place] = keys->numbers[i];
    }
    free(keys->keys);
    free(keys->numbers);
    *keys = larger;
    return true;
}

/* *place is the key's. */
static int add(struct sg_keys *keys, uint64_t key, uint64_t *place)
{
    if (2 * (keys->count + 1) > keys->capacity && !grow(keys))
        return -1;
    *place = place_of(keys, key);
    if (keys->keys[*place] != 0)
        return 0;
    keys->keys[*place] = key;
    if (keys->numbered)
        keys->numbers[*place] = (uint32_t)keys->count;
    keys->count++;
    return 1;
}

int sg_keys_add(struct sg_keys *keys, uint64_t key)
{
    uint64_t place;

    return add(keys, key + (key == 0), &place);
}

uint32_t sg_keys_number(struct sg_keys *keys, uint64_t key)
{
    uint64_t place;

    return add(keys, key, &place) < 0 ? UINT32_MAX : keys->numbers[place];
}

bool sg_keys_has(const struct sg_keys *keys, uint64_t key)
{
    key += key == 0;
    return keys->count > 0 && keys->keys[place_of(keys, key)] != 0;
}

bool sg_keys_add_all(struct sg_keys *keys, const struct sg_keys *other)
{
    for (uint64_t i = 0; i < other->capacity; i++) {
        if (other->keys[i] != 0 && sg_keys_add(keys, other->keys[i]) < 0)
            return false;
    }
    return true;
}

void sg_keys_clear(struct sg_keys *keys)
{
    keys->count = 0;
    if (keys->keys)
        memset(keys->keys, 0, keys->capacity * sizeof *keys->keys);
}

void sg_keys_free(struct sg_keys *keys)
{
    free(keys->keys);
    free(keys->numbers);
    *keys = (struct sg_keys){0};
}
