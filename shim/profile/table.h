/* A table from keys (not 0) to pointers: open addressing, filled once and never emptied. Readers
 * take no lock; who adds holds the caller's. What is found later than a full table is not kept.
 */
#ifndef SG_PROFILE_TABLE_H
#define SG_PROFILE_TABLE_H

#include "core/hash.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_POINTER_TABLE_SLOTS 65536u /* a power of two; half of it is used at most */

struct sg_pointer_table {
    struct sg_pointer_table_slot {
        _Atomic uint64_t key; /* 0: free */
        void *value;
    } slots[SG_POINTER_TABLE_SLOTS];
    unsigned used;
};

/* NULL: not there. */
static inline void *sg_pointer_table_find(const struct sg_pointer_table *table, uint64_t key)
{
    for (uint64_t at = sg_hash_mix(key);; at++) {
        const struct sg_pointer_table_slot *slot = &table->slots[at % SG_POINTER_TABLE_SLOTS];
        /* Acquire: pairs with sg_pointer_table_add, the value is there. */
        uint64_t found = atomic_load_explicit(&slot->key, memory_order_acquire);

        if (found == key)
            return slot->value;
        if (found == 0)
            return NULL;
    }
}

/* The value in a slot, to walk all of them; NULL: the slot is free. */
static inline void *sg_pointer_table_at(const struct sg_pointer_table *table, unsigned slot)
{
    return atomic_load_explicit(&table->slots[slot].key, memory_order_acquire) != 0
               ? table->slots[slot].value
               : NULL;
}

static inline bool sg_pointer_table_is_full(const struct sg_pointer_table *table)
{
    return table->used >= SG_POINTER_TABLE_SLOTS / 2;
}

/* A key that is not there yet. */
static inline void sg_pointer_table_add(struct sg_pointer_table *table, uint64_t key, void *value)
{
    uint64_t at = sg_hash_mix(key);

    if (sg_pointer_table_is_full(table))
        return;
    while (atomic_load_explicit(&table->slots[at % SG_POINTER_TABLE_SLOTS].key,
                                memory_order_relaxed) != 0)
        at++;
    table->slots[at % SG_POINTER_TABLE_SLOTS].value = value;
    /* Release: see sg_pointer_table_find. */
    atomic_store_explicit(&table->slots[at % SG_POINTER_TABLE_SLOTS].key, key,
                          memory_order_release);
    table->used++;
}

#endif
