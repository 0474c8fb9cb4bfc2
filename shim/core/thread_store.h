/* Per-thread storage of one part of the library. A thread that ends hands its storage, with its
 * number and contents, to the next thread; so there is never more storage than threads alive at a
 * time. Nothing is returned to malloc.
 *
 * Any thread; takes a lock. Not from a signal handler. */
#ifndef SG_CORE_THREAD_STORE_H
#define SG_CORE_THREAD_STORE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_thread_store;

/* First member of the stored struct. */
struct sg_thread_kept {
    struct sg_thread_store *store;
    struct sg_thread_kept *next;   /* in the list of all */
    struct sg_thread_kept *unused; /* in the list of those whose threads have ended */
    uint16_t number;               /* from 0; UINT16_MAX is shared by all beyond that */
};

struct sg_thread_store {
    size_t bytes; /* size of the stored struct, zeroed at first */
    /* Runs on the ending thread, before another thread takes the storage. NULL: nothing to do. */
    void (*ended)(struct sg_thread_kept *kept);
    pthread_mutex_t lock;
    struct sg_thread_kept *all, *unused;
    uint16_t count;
    bool has_key;
    pthread_key_t at_end;
};
#define SG_THREAD_STORE(of, when_ended)                                                            \
    {                                                                                              \
        .bytes = sizeof(of), .ended = (when_ended), .lock = PTHREAD_MUTEX_INITIALIZER              \
    }

/* Gives the calling thread, which has none yet, its storage. NULL: no memory. */
void *sg_thread_store_take(struct sg_thread_store *store);
/* Releases the calling thread's storage as if the thread ended. */
void sg_thread_store_put_back(void *kept);

/* Calls visit for the storage of all threads, under the lock. */
void sg_thread_store_each(struct sg_thread_store *store, void (*visit)(void *kept));

#endif
