#include "core/thread_store.h"

#include <stdlib.h>

static void put_back(void *ended)
{
    struct sg_thread_kept *kept = ended;
    struct sg_thread_store *store = kept->store;

    if (store->ended != NULL)
        store->ended(kept);
    pthread_mutex_lock(&store->lock);
    kept->unused = store->unused;
    store->unused = kept;
    pthread_mutex_unlock(&store->lock);
}

/* Call under the lock. */
static struct sg_thread_kept *make(struct sg_thread_store *store)
{
    struct sg_thread_kept *kept = calloc(1, store->bytes);

    if (kept == NULL)
        return NULL;
    kept->store = store;
    kept->number = store->count;
    store->count += store->count < UINT16_MAX;
    kept->next = store->all;
    store->all = kept;
    return kept;
}

void *sg_thread_store_take(struct sg_thread_store *store)
{
    struct sg_thread_kept *kept;

    pthread_mutex_lock(&store->lock);
    if (!store->has_key)
        store->has_key = pthread_key_create(&store->at_end, put_back) == 0;
    kept = store->unused;
    if (kept != NULL)
        store->unused = kept->unused;
    else
        kept = make(store);
    pthread_mutex_unlock(&store->lock);
    if (kept != NULL && store->has_key)
        pthread_setspecific(store->at_end, kept);
    return kept;
}

void sg_thread_store_put_back(void *kept)
{
    struct sg_thread_store *store = ((struct sg_thread_kept *)kept)->store;

    if (store->has_key)
        pthread_setspecific(store->at_end, NULL);
    put_back(kept);
}

void sg_thread_store_each(struct sg_thread_store *store, void (*visit)(void *kept))
{
    pthread_mutex_lock(&store->lock);
    for (struct sg_thread_kept *kept = store->all; kept != NULL; kept = kept->next)
        visit(kept);
    pthread_mutex_unlock(&store->lock);
}
