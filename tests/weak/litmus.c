/* Atomic operations with constant orders: only those are instrumented. */
#include "weak/litmus.h"

#include <stdlib.h>

static _Atomic int objects[3];

#define IN(which, ...)                                                                             \
    if (order == memory_order_##which)                                                             \
    return __VA_ARGS__

#define LOAD(which) IN(which, atomic_load_explicit(object, memory_order_##which))
#define STORE(which) IN(which, (atomic_store_explicit(object, value, memory_order_##which), 0))
#define ADD(which) IN(which, atomic_fetch_add_explicit(object, value, memory_order_##which))
#define FENCE(which) IN(which, (atomic_thread_fence(memory_order_##which), 0))
#define EXCHANGE(which)                                                                            \
    IN(which, atomic_compare_exchange_strong_explicit(object, &from, value, memory_order_##which,  \
                                                      memory_order_relaxed))

int litmus_do(enum litmus_operation operation, memory_order order, int number, int value, int from)
{
    _Atomic int *object = &objects[number];

    switch (operation) {
    case LITMUS_LOAD:
        LOAD(relaxed);
        LOAD(acquire);
        LOAD(seq_cst);
        break;
    case LITMUS_STORE:
        STORE(relaxed);
        STORE(release);
        STORE(seq_cst);
        break;
    case LITMUS_ADD:
        ADD(relaxed);
        ADD(acq_rel);
        ADD(seq_cst);
        break;
    case LITMUS_EXCHANGE:
        EXCHANGE(relaxed);
        EXCHANGE(acquire);
        break;
    case LITMUS_FENCE:
        FENCE(release);
        FENCE(acquire);
        FENCE(acq_rel);
        FENCE(seq_cst);
        break;
    }
    abort();
}

static bool is_one(void *context)
{
    return atomic_load_explicit(&objects[1], memory_order_acquire) == 1;
}

void litmus_await(void)
{
    weak_await(is_one, NULL);
}
