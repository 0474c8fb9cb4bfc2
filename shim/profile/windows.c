#include "profile/windows.h"

#include "mpi/real.h"
#include "profile/handles.h"
#include "runtime/process.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

struct known {
    struct sg_handle handle;
    struct sg_window window;
    uint32_t ordinal; /* among the windows of its communicator */
    atomic_bool is_defined;
};

static struct sg_handles windows = {.none = MPI_WIN_NULL};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

void sg_window_made(MPI_Win handle, struct sg_profile_comm *comm)
{
    struct known *known;

    if (handle == MPI_WIN_NULL)
        return;
    pthread_mutex_lock(&lock);
    known = sg_handles_take(&windows, handle, sizeof *known);
    if (known != NULL) {
        sg_handles_set(known, MPI_WIN_NULL);
        known->window.number = count++;
        known->window.comm = comm != NULL ? comm->index : 0;
        known->ordinal =
            comm != NULL ? atomic_fetch_add_explicit(&comm->windows, 1, memory_order_relaxed) : 0;
        atomic_store_explicit(&known->window.collectives, 1, memory_order_relaxed);
        atomic_store_explicit(&known->window.access_group, SG_NO_NUMBER, memory_order_relaxed);
        atomic_store_explicit(&known->window.exposure_group, SG_NO_NUMBER, memory_order_relaxed);
        atomic_store_explicit(&known->is_defined, false, memory_order_relaxed);
        sg_handles_set(known, handle);
    }
    pthread_mutex_unlock(&lock);
}

struct sg_window *sg_window_of(MPI_Win handle)
{
    struct known *known = handle != MPI_WIN_NULL ? sg_handles_find(&windows, handle) : NULL;

    return known != NULL ? &known->window : NULL;
}

void sg_window_forget(MPI_Win handle)
{
    struct known *known;

    pthread_mutex_lock(&lock);
    known = handle != MPI_WIN_NULL ? sg_handles_find(&windows, handle) : NULL;
    if (known != NULL)
        sg_handles_set(known, MPI_WIN_NULL);
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

static void switch_off(void *of, void *context)
{
    struct known *known = of;

    (void)context;
    atomic_store_explicit(&known->window.access_group, SG_NO_NUMBER, memory_order_relaxed);
    atomic_store_explicit(&known->window.exposure_group, SG_NO_NUMBER, memory_order_relaxed);
}

void sg_windows_switch(void)
{
    sg_handles_each(&windows, switch_off, NULL);
}

static void define(void *of, void *context)
{
    struct known *known = of;

    (void)context;
    sg_window_define(&known->window, sg_handles_of(known));
}

void sg_windows_stop(void)
{
    sg_handles_each(&windows, define, NULL);
}
