/* What is known of objects of MPI by their handles.
 *
 * What was made is never given back to malloc, nor taken out of its bucket: that of a handle that
 * was given up is the next one's there. So who looks up takes no lock; who changes holds one.
 */
#ifndef SG_PROFILE_HANDLES_H
#define SG_PROFILE_HANDLES_H

#include "core/hash.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SG_HANDLE_BUCKETS 1024u

/* The first member of what is known. */
struct sg_handle {
    _Atomic int handle; /* the table's none: it was given up, or is not there yet */
    _Atomic(struct sg_handle *) next;
};

struct sg_handles {
    int none; /* the handle of no object */
    _Atomic(struct sg_handle *) buckets[SG_HANDLE_BUCKETS];
};

static inline _Atomic(struct sg_handle *) *sg_handles_bucket(struct sg_handles *handles, int handle)
{
    return &handles->buckets[sg_hash_mix((uint32_t)handle) % SG_HANDLE_BUCKETS];
}

/* NULL: nothing is known of it. Not of none. */
static inline void *sg_handles_find(struct sg_handles *handles, int handle)
{
    /* Acquire: pairs with sg_handles_set, what is behind the handle is there. */
    struct sg_handle *known =
        atomic_load_explicit(sg_handles_bucket(handles, handle), memory_order_acquire);

    while (known != NULL && atomic_load_explicit(&known->handle, memory_order_acquire) != handle)
        known = atomic_load_explicit(&known->next, memory_order_acquire);
    return known;
}

/* Under the lock: what is known of the handle, or what is to be filled and set; bytes: of it, zeros
 * where it is new. NULL: there is no memory. */
void *sg_handles_take(struct sg_handles *handles, int handle, size_t bytes);

/* Under the lock: from now on it is found, with all that was written before; or given up (none). */
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

/* Calls it for all that were not given up. */
void sg_handles_each(struct sg_handles *handles, void (*visit)(void *known, void *context),
                     void *context);

#endif
