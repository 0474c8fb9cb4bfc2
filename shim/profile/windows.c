#include "profile/windows.h"

#include "core/hash.h"
#include "mpi/real.h"
#include "runtime/process.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 256u

/* Never given back to malloc, nor taken out of its bucket: that of a handle that was given up is
 * the next one's there. */
struct known {
    _Atomic(MPI_Win) handle; /* MPI_WIN_NULL: of none */
    struct sg_window window;
    uint32_t ordinal; /* among the windows of its communicator */
    atomic_bool is_defined;
    _Atomic(struct known *) next;
};

static _Atomic(struct known *) buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static _Atomic(struct known *) *bucket_of(MPI_Win handle)
{
    return &buckets[sg_hash_mix((uint32_t)handle) % BUCKETS];
}

static struct known *find(MPI_Win handle)
{
    /* Acquire: pairs with sg_window_made, what is behind the handle is there. */
    struct known *known = atomic_load_explicit(bucket_of(handle), memory_order_acquire);

    while (known != NULL && atomic_load_explicit(&known->handle, memory_order_acquire) != handle)
        known = atomic_load_explicit(&known->next, memory_order_acquire);
    return known;
}

/* Under the lock. */
static struct known *take(MPI_Win handle)
{
    struct known *known = find(handle);

    if (known == NULL) {
        known = atomic_load_explicit(bucket_of(handle), memory_order_relaxed);
        while (known != NULL &&
               atomic_load_explicit(&known->handle, memory_order_relaxed) != MPI_WIN_NULL)
            known = atomic_load_explicit(&known->next, memory_order_relaxed);
    }
    if (known != NULL || (known = calloc(1, sizeof *known)) == NULL)
        return known;
    atomic_init(&known->handle, MPI_WIN_NULL);
    atomic_init(&known->next, atomic_load_explicit(bucket_of(handle), memory_order_relaxed));
    /* Release: see find. */
    atomic_store_explicit(bucket_of(handle), known, memory_order_release);
    return known;
}

void sg_window_made(MPI_Win handle, struct sg_profile_comm *comm)
{
    struct known *known;

    if (handle == MPI_WIN_NULL)
        return;
    pthread_mutex_lock(&lock);
    known = take(handle);
    if (known != NULL) {
        atomic_store_explicit(&known->handle, MPI_WIN_NULL, memory_order_relaxed);
        known->window.number = count++;
        known->window.comm = comm != NULL ? comm->index : 0;
        known->ordinal =
            comm != NULL ? atomic_fetch_add_explicit(&comm->windows, 1, memory_order_relaxed) : 0;
        atomic_store_explicit(&known->window.collectives, 1, memory_order_relaxed);
        atomic_store_explicit(&known->window.access_group, SG_NO_NUMBER, memory_order_relaxed);
        atomic_store_explicit(&known->window.exposure_group, SG_NO_NUMBER, memory_order_relaxed);
        atomic_store_explicit(&known->is_defined, false, memory_order_relaxed);
        /* Release: see find. */
        atomic_store_explicit(&known->handle, handle, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

struct sg_window *sg_window_of(MPI_Win handle)
{
    struct known *known = handle != MPI_WIN_NULL ? find(handle) : NULL;

    return known != NULL ? &known->window : NULL;
}

void sg_window_forget(MPI_Win handle)
{
    struct known *known;

    pthread_mutex_lock(&lock);
    known = handle != MPI_WIN_NULL ? find(handle) : NULL;
    if (known != NULL)
        atomic_store_explicit(&known->handle, MPI_WIN_NULL, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
}

/* ---- the log ---- */

/* Under the lock. */
static void record(struct known *known, MPI_Win handle)
{
    struct sg_record_window *entry;
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    size_t text_bytes;
    int length;

    if (handle != MPI_WIN_NULL && sg_real.Win_get_name(handle, name, &length) != MPI_SUCCESS)
        name[0] = '\0';
    text_bytes = strlen(name) + 1;
    entry = sg_log_definition(sg_process.log, name, text_bytes);
    if (entry == NULL)
        return;
    entry->index = (uint32_t)known->window.number;
    entry->comm = known->window.comm;
    entry->ordinal = known->ordinal;
    entry->text_bytes = (uint32_t)text_bytes;
    sg_log_publish(entry, SG_RECORD_WINDOW);
}

void sg_window_define(struct sg_window *window, MPI_Win handle)
{
    struct known *known =
        (struct known *)(void *)((unsigned char *)window - offsetof(struct known, window));

    if (atomic_load_explicit(&known->is_defined, memory_order_relaxed))
        return;
    pthread_mutex_lock(&lock);
    if (!atomic_exchange_explicit(&known->is_defined, true, memory_order_relaxed))
        record(known, handle);
    pthread_mutex_unlock(&lock);
}

static struct known *next_of(struct known *known)
{
    return atomic_load_explicit(&known->next, memory_order_acquire);
}

void sg_windows_switch(void)
{
    for (unsigned i = 0; i < BUCKETS; i++) {
        struct known *known = atomic_load_explicit(&buckets[i], memory_order_acquire);

        for (; known != NULL; known = next_of(known)) {
            atomic_store_explicit(&known->window.access_group, SG_NO_NUMBER, memory_order_relaxed);
            atomic_store_explicit(&known->window.exposure_group, SG_NO_NUMBER,
                                  memory_order_relaxed);
        }
    }
}

void sg_windows_stop(void)
{
    for (unsigned i = 0; i < BUCKETS; i++) {
        struct known *known = atomic_load_explicit(&buckets[i], memory_order_acquire);

        for (; known != NULL; known = next_of(known)) {
            MPI_Win handle = atomic_load_explicit(&known->handle, memory_order_acquire);

            if (handle != MPI_WIN_NULL)
                sg_window_define(&known->window, handle);
        }
    }
}
