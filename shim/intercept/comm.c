/* Maps communicator handles to their states. Look-ups follow atomic links without a lock; inserting
 * and removing takes the lock. A state is never freed, only reused.
 */
#include "intercept/comm.h"

#include "core/hash.h"

#include <pthread.h>
#include <stdlib.h>

#define BUCKETS 1024u

static struct sg_comm world;
static struct sg_comm self;
static _Atomic(struct sg_comm *) buckets[BUCKETS];
/* States of freed communicators whose engines have yet to end, and states for reuse. They never go
 * back to malloc, because a look-up of another handle may be passing through one. Such a look-up
 * misses, and looks again under the lock. */
static struct sg_comm *removed;
static struct sg_comm *spare;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Atomic(struct sg_comm *) *bucket_of(MPI_Comm handle)
{
    return &buckets[sg_hash_mix((uint32_t)handle) % BUCKETS];
}

/* Relaxed: a walk that strays into the spare states ends there; the caller repeats it under the
 * lock. */
static struct sg_comm *walk(struct sg_comm *comm, MPI_Comm handle)
{
    while (comm != NULL && atomic_load_explicit(&comm->handle, memory_order_relaxed) != handle)
        comm = atomic_load_explicit(&comm->next, memory_order_relaxed);
    return comm;
}

struct sg_comm *sg_comm_find(MPI_Comm handle)
{
    struct sg_comm *found;

    if (handle == MPI_COMM_WORLD)
        return &world;
    if (handle == MPI_COMM_SELF)
        return &self;
    /* Acquire: pairs with sg_comm_insert; the state behind the pointer is complete. */
    found = walk(atomic_load_explicit(bucket_of(handle), memory_order_acquire), handle);
    if (found == NULL) {
        pthread_mutex_lock(&lock);
        found = walk(atomic_load_explicit(bucket_of(handle), memory_order_relaxed), handle);
        pthread_mutex_unlock(&lock);
    }
    return found;
}

struct sg_comm *sg_comm_take(void)
{
    struct sg_comm *comm;

    pthread_mutex_lock(&lock);
    comm = spare;
    if (comm != NULL)
        spare = atomic_load_explicit(&comm->next, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    return comm != NULL ? comm : calloc(1, sizeof *comm);
}

void sg_comm_insert(struct sg_comm *comm, MPI_Comm handle)
{
    _Atomic(struct sg_comm *) *bucket = bucket_of(handle);

    pthread_mutex_lock(&lock);
    atomic_store_explicit(&comm->handle, handle, memory_order_relaxed);
    atomic_store_explicit(&comm->next, atomic_load_explicit(bucket, memory_order_relaxed),
                          memory_order_relaxed);
    /* Release: see sg_comm_find. */
    atomic_store_explicit(bucket, comm, memory_order_release);
    pthread_mutex_unlock(&lock);
}

void sg_comm_remove(struct sg_comm *comm)
{
    _Atomic(struct sg_comm *) *link;

    pthread_mutex_lock(&lock);
    link = bucket_of(atomic_load_explicit(&comm->handle, memory_order_relaxed));
    while (atomic_load_explicit(link, memory_order_relaxed) != comm)
        link = &atomic_load_explicit(link, memory_order_relaxed)->next;
    /* Release: the next state was published by its own insertion; readers keep that order. */
    atomic_store_explicit(link, atomic_load_explicit(&comm->next, memory_order_relaxed),
                          memory_order_release);
    atomic_store_explicit(&comm->handle, MPI_COMM_NULL, memory_order_relaxed);
    atomic_store_explicit(&comm->next, removed, memory_order_relaxed);
    removed = comm;
    pthread_mutex_unlock(&lock);
}

static void put_back(struct sg_comm *comm, bool has_ended)
{
    struct sg_comm **list = has_ended ? &spare : &removed;

    pthread_mutex_lock(&lock);
    atomic_store_explicit(&comm->next, *list, memory_order_relaxed);
    *list = comm;
    pthread_mutex_unlock(&lock);
}

void sg_comm_end_removed(bool (*has_ended)(struct sg_comm *comm))
{
    struct sg_comm *comm, *next;

    pthread_mutex_lock(&lock);
    comm = removed;
    removed = NULL;
    pthread_mutex_unlock(&lock);
    for (; comm != NULL; comm = next) {
        next = atomic_load_explicit(&comm->next, memory_order_relaxed);
        put_back(comm, has_ended(comm));
    }
}

void sg_comm_each(void (*what)(struct sg_comm *comm))
{
    what(&world);
    what(&self);
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct sg_comm *comm = atomic_load(&buckets[i]); comm != NULL;
             comm = atomic_load(&comm->next))
            what(comm);
    }
}
