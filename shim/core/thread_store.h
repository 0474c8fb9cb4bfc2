/* What a part of the library keeps for each thread of the program: that of a thread that has ended
 * is the next one's, with its number and all that it holds, so that there are never more of them
 * than threads at a time. Nothing is given back to malloc.
 *
 * Any thread; takes a lock. Not from a signal handler.
 */
#ifndef SG_CORE_THREAD_STORE_H
#define SG_CORE_THREAD_STORE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_thread_store;

/* The first member of what is kept. */
struct sg_thread_kept {
    struct sg_thread_store *store;
    struct sg_thread_kept *next;   /* of all */
    struct sg_thread_kept *unused; /* of those whose threads have ended */
    uint16_t number;               /* from 0; UINT16_MAX: of all beyond that */
};

struct sg_thread_store {
    size_t bytes; /* of what is kept, at first zeros */
    /* On a thread that ends, before it is the next one's. NULL: nothing is to be done. */
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

/* The calling thread's from now on; it has none. NULL: there is no memory. */
void *sg_thread_store_take(struct sg_thread_store *store);
/* As if the thread, which is the calling one, ended. */
void sg_thread_store_put_back(void *kept);

/* Calls it for all, under the lock. */
void sg_thread_store_each(struct sg_thread_store *store, void (*visit)(void *kept));

#endif
