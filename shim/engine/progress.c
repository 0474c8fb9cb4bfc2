#include "engine/progress.h"

#include "engine/span.h"

#include <pthread.h>

#define SPANS_MAX 4096

/* Read without the lock, in a signal handler too: a span is taken out before it goes. */
static _Atomic(struct sg_span *) spans[SPANS_MAX];
static _Atomic int used; /* places ever used */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum sg_progress_mode mode;

void sg_progress_start(enum sg_progress_mode wanted)
{
    mode = wanted;
}

bool sg_progress_add(struct sg_span *span)
{
    int place = 0;

    pthread_mutex_lock(&lock);
    while (place < SPANS_MAX && atomic_load_explicit(&spans[place], memory_order_relaxed) != NULL)
        place++;
    if (place < SPANS_MAX) {
        /* Release: the span is whole. */
        atomic_store_explicit(&spans[place], span, memory_order_release);
        if (place >= atomic_load_explicit(&used, memory_order_relaxed))
            atomic_store_explicit(&used, place + 1, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return place < SPANS_MAX;
}

void sg_progress_remove(struct sg_span *span)
{
    pthread_mutex_lock(&lock);
    for (int place = 0; place < SPANS_MAX; place++) {
        if (atomic_load_explicit(&spans[place], memory_order_relaxed) == span)
            atomic_store_explicit(&spans[place], NULL, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
}

void sg_progress_poll(void)
{
    int count = atomic_load_explicit(&used, memory_order_acquire);

    for (int place = 0; place < count; place++) {
        /* Acquire: pairs with sg_progress_add. */
        struct sg_span *span = atomic_load_explicit(&spans[place], memory_order_acquire);

        if (span != NULL)
            sg_span_progress(span);
    }
}

void sg_progress_arm(struct sg_progress_bell *bell)
{
    atomic_store_explicit(&bell->armed, 1u + mode, memory_order_relaxed);
}

void sg_progress_disarm(struct sg_progress_bell *bell)
{
    atomic_store_explicit(&bell->armed, 0, memory_order_relaxed);
}

void sg_progress_ring(struct sg_progress_bell *bell)
{
    if (atomic_load_explicit(&bell->armed, memory_order_relaxed) > 1u + SG_PROGRESS_POLL)
        atomic_fetch_add_explicit(&bell->rings, 1, memory_order_relaxed);
}
