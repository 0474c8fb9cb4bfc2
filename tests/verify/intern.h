/* Numbers byte strings: equal strings have the same number, counted from 0 in the order of first
 * use. */
#ifndef SG_VERIFY_INTERN_H
#define SG_VERIFY_INTERN_H

#include <stddef.h>
#include <stdint.h>

#define SG_INTERN_NONE UINT32_MAX

struct sg_intern_item {
    uint64_t hash;
    size_t at;
    uint32_t bytes;
};

/* Starts zeroed. */
struct sg_intern {
    unsigned char *text;
    size_t text_bytes, text_capacity;
    struct sg_intern_item *items;
    uint32_t count, capacity;
    /* hash table of number + 1; its size is a power of two, at least twice the count */
    uint32_t *places;
    uint32_t places_count;
};

/* SG_INTERN_NONE when memory runs out. */
uint32_t sg_intern_add(struct sg_intern *intern, const void *data, uint32_t bytes);

/* Valid until the next string is added. */
static inline const void *sg_intern_at(const struct sg_intern *intern, uint32_t number)
{
    return intern->text + intern->items[number].at;
}

/* Removes all strings and keeps the memory. */
void sg_intern_clear(struct sg_intern *intern);
void sg_intern_free(struct sg_intern *intern);

/* A multiplicative hash over words, faster than one over bytes; continues from an earlier value. */
static inline uint64_t sg_intern_hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
    return hash ^ hash >> 29;
}

uint64_t sg_intern_hash(uint64_t hash, const void *data, size_t bytes);
/* Grows an array to a capacity of `needed` elements; the array may move. NULL, with nothing
 * changed, when memory runs out. */
void *sg_intern_room(void *array, uint32_t *capacity, size_t needed, size_t element_bytes);

#endif
