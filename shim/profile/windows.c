#include "profile/windows.h"

#include "core/hash.h"

#include <pthread.h>
#include <stdlib.h>

#define BUCKETS 64u

struct window {
    MPI_Win handle;
    uint32_t comm;
    struct window *next;
};

static struct window *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct window **find(MPI_Win handle)
{
    struct window **link = &buckets[sg_hash_mix((uint32_t)handle) % BUCKETS];

    while (*link != NULL && (*link)->handle != handle)
        link = &(*link)->next;
    return link;
}

void sg_window_made(MPI_Win handle, uint32_t comm)
{
    struct window **link;

    pthread_mutex_lock(&lock);
    link = find(handle);
    if (*link == NULL && (*link = calloc(1, sizeof **link)) != NULL)
        (*link)->handle = handle;
    if (*link != NULL)
        (*link)->comm = comm;
    pthread_mutex_unlock(&lock);
}

uint32_t sg_window_comm(MPI_Win handle)
{
    const struct window *window;
    uint32_t comm;

    pthread_mutex_lock(&lock);
    window = *find(handle);
    comm = window != NULL ? window->comm : 0;
    pthread_mutex_unlock(&lock);
    return comm;
}

void sg_window_forget(MPI_Win handle)
{
    struct window **link, *window;

    pthread_mutex_lock(&lock);
    link = find(handle);
    window = *link;
    if (window != NULL) {
        *link = window->next;
        free(window);
    }
    pthread_mutex_unlock(&lock);
}
