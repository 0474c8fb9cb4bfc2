/* The writers' side of the table of handles (handles.h): reuses freed entries and publishes new
 * ones. Callers hold their lock, so that relaxed loads suffice within it; readers do not lock.
 */
#include "profile/handles.h"

#include <stdlib.h>

/* Finds an entry in the bucket; handle none finds a freed one. */
static struct sg_handle *find(const _Atomic(struct sg_handle *) *bucket, int handle)
{
    struct sg_handle *known = atomic_load_explicit(bucket, memory_order_relaxed);

    while (known != NULL && atomic_load_explicit(&known->handle, memory_order_relaxed) != handle)
        known = atomic_load_explicit(&known->next, memory_order_relaxed);
    return known;
}

void *sg_handles_take(struct sg_handles *handles, int handle, size_t bytes)
{
    _Atomic(struct sg_handle *) *bucket = sg_handles_bucket(handles, handle);
    struct sg_handle *known = find(bucket, handle);

    if (known == NULL)
        known = find(bucket, handles->none);
    if (known != NULL || (known = calloc(1, bytes)) == NULL)
        return known;
    atomic_init(&known->handle, handles->none);
    atomic_init(&known->next, atomic_load_explicit(bucket, memory_order_relaxed));
    /* Release: see sg_handles_find. */
    atomic_store_explicit(bucket, known, memory_order_release);
    return known;
}

void sg_handles_each(struct sg_handles *handles, void (*visit)(void *known, void *context),
                     void *context)
{
    for (unsigned i = 0; i < SG_HANDLE_BUCKETS; i++) {
        struct sg_handle *known = atomic_load_explicit(&handles->buckets[i], memory_order_acquire);

        for (; known != NULL; known = atomic_load_explicit(&known->next, memory_order_acquire)) {
            if (sg_handles_of(known) != handles->none)
                visit(known, context);
        }
    }
}
