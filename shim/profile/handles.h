/* A table from handles of MPI objects to what the library knows of them.
 *
 * Entries are never freed nor removed from their bucket: the entry of a freed handle is reused for
 * the next one in that bucket. So readers take no lock; writers hold the caller's.
 */
#ifndef SG_PROFILE_HANDLES_H
#define SG_PROFILE_HANDLES_H

#include "core/hash.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SG_HANDLE_BUCKETS 1024u

/* The first member of an entry. */
struct sg_handle {
    _Atomic int handle; /* table's none: freed, or not set yet */
    _Atomic(struct sg_handle *) next;
};

struct sg_handles {
    int none; /* handle of no object */
    _Atomic(struct sg_handle *) buckets[SG_HANDLE_BUCKETS];
};

static inline _Atomic(struct sg_handle *) *sg_handles_bucket(struct sg_handles *handles, int handle)
{
    return &handles->buckets[sg_hash_mix((uint32_t)handle) % SG_HANDLE_BUCKETS];
}

/* Returns the entry of a handle other than none; NULL: there is none. */
static inline void *sg_handles_find(struct sg_handles *handles, int handle)
{
    /* Acquire: pairs with sg_handles_set; the entry is complete. */
    struct sg_handle *known =
        atomic_load_explicit(sg_handles_bucket(handles, handle), memory_order_acquire);

    while (known != NULL && atomic_load_explicit(&known->handle, memory_order_acquire) != handle)
        known = atomic_load_explicit(&known->next, memory_order_acquire);
    return known;
}

/* Call with the lock: returns the handle's entry, or one to fill and set. bytes: its size; a new
 * one is zeroed. NULL: no memory. */
void *sg_handles_take(struct sg_handles *handles, int handle, size_t bytes);

/* Call with the lock: publishes an entry under its handle with all earlier writes; none frees
 * it. */
static inline void sg_handles_set(void *known, int handle)
{
    /* Release: see sg_handles_find. */
    atomic_store_explicit(&((struct sg_handle *)known)->handle, handle, memory_order_release);
}

static inline int sg_handles_of(const void *known)
{
    /* Acquire: as in sg_handles_find. */
    return atomic_load_explicit(&((const struct sg_handle *)known)->handle, memory_order_acquire);
}

/* Calls visit for each entry that is not freed. */
void sg_handles_each(struct sg_handles *handles, void (*visit)(void *known, void *context),
                     void *context);

#endif
