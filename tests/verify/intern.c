#include "verify/intern.h"

#include <stdlib.h>
#include <string.h>

#define LEAST 1024
#define ALIGN 8

uint64_t sg_intern_hash(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t word;

    for (; bytes >= sizeof word; bytes -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = sg_intern_hash_word(hash, word);
    }
    word = 0;
    memcpy(&word, at, bytes);
    return sg_intern_hash_word(hash, word);
}

void *sg_intern_room(void *array, uint32_t *capacity, size_t needed, size_t element_bytes)
{
    size_t larger = *capacity ? *capacity : LEAST;
    void *moved;

    if (array && needed <= *capacity)
        return array;
    while (larger < needed)
        larger *= 2;
    moved = larger < UINT32_MAX ? realloc(array, larger * element_bytes) : NULL;
    if (moved)
        *capacity = (uint32_t)larger;
    return moved;
}

/* Index of the string's slot, or of the slot where it would be inserted. */
static uint32_t find(const struct sg_intern *intern, const void *data, uint32_t bytes,
                     uint64_t hash)
{
    uint32_t mask = intern->places_count - 1;
    uint32_t place = (uint32_t)hash & mask;

    for (; intern->places[place] != 0; place = (place + 1) & mask) {
        const struct sg_intern_item *item = &intern->items[intern->places[place] - 1];

        if (item->hash == hash && item->bytes == bytes &&
            (bytes == 0 || memcmp(intern->text + item->at, data, bytes) == 0))
            break;
    }
    return place;
}

static int grow_places(struct sg_intern *intern)
{
    uint32_t count = intern->places_count ? 2 * intern->places_count : LEAST;
    uint32_t *places = calloc(count, sizeof *places);

    if (places == NULL)
        return 0;
    for (uint32_t i = 0; i < intern->count; i++) {
        uint32_t place = (uint32_t)intern->items[i].hash & (count - 1);

        while (places[place] != 0)
            place = (place + 1) & (count - 1);
        places[place] = i + 1;
    }
    free(intern->places);
    intern->places = places;
    intern->places_count = count;
    return 1;
}

static int reserve_text(struct sg_intern *intern, uint32_t bytes)
{
    size_t needed = intern->text_bytes + bytes + ALIGN;
    unsigned char *text;

    if (needed <= intern->text_capacity)
        return 1;
    needed += needed / 2;
    text = realloc(intern->text, needed);
    if (text == NULL)
        return 0;
    intern->text = text;
    intern->text_capacity = needed;
    return 1;
}

uint32_t sg_intern_add(struct sg_intern *intern, const void *data, uint32_t bytes)
{
    uint64_t hash = sg_intern_hash(bytes, data, bytes);
    struct sg_intern_item *items;
    uint32_t place;

    if (2 * (intern->count + 1) > intern->places_count && !grow_places(intern))
        return SG_INTERN_NONE;
    place = find(intern, data, bytes, hash);
    if (intern->places[place] != 0)
        return intern->places[place] - 1;
    items = sg_intern_room(intern->items, &intern->capacity, intern->count + 1, sizeof *items);
    if (items)
        intern->items = items;
    if (items == NULL || !reserve_text(intern, bytes))
        return SG_INTERN_NONE;
    memcpy(intern->text + intern->text_bytes, data, bytes);
    intern->items[intern->count] = (struct sg_intern_item){hash, intern->text_bytes, bytes};
    intern->text_bytes += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    intern->places[place] = ++intern->count;
    return intern->count - 1;
}

void sg_intern_clear(struct sg_intern *intern)
{
    intern->count = 0;
    intern->text_bytes = 0;
    if (intern->places)
        memset(intern->places, 0, intern->places_count * sizeof *intern->places);
}

void sg_intern_free(struct sg_intern *intern)
{
    free(intern->text);
    free(intern->items);
    free(intern->places);
    memset(intern, 0, sizeof *intern);
}
