/* A set of 64-bit keys, which may be numbered in the order in which they are added. */
#ifndef SG_SIM_EXHAUSTIVE_KEYS_H
#define SG_SIM_EXHAUSTIVE_KEYS_H

#include <stdbool.h>
#include <stdint.h>

/* Starts zeroed. */
struct sg_keys {
    uint64_t *keys;           /* 0: a free place */
    uint32_t *numbers;        /* by slot; only in a numbered set */
    uint64_t count, capacity; /* a power of two, at least twice the count */
    bool numbered;            /* set before the first key is added */
};

/* Adds a key: 1 if it is new, 0 if not, -1 when there is no memory. */
int sg_keys_add(struct sg_keys *keys, uint64_t key);
/* Adds a key greater than 0. Returns its number, from 0 up, or UINT32_MAX when there is no memory.
 */
uint32_t sg_keys_number(struct sg_keys *keys, uint64_t key);
bool sg_keys_has(const struct sg_keys *keys, uint64_t key);
/* Adds the keys of another set. False when there is no memory. */
bool sg_keys_add_all(struct sg_keys *keys, const struct sg_keys *other);
/* Forgets all keys and keeps the memory. */
void sg_keys_clear(struct sg_keys *keys);
void sg_keys_free(struct sg_keys *keys);

#endif
