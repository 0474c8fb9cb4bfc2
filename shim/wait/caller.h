/* Who calls a function that is found in the library before it is found in the one that has it:
 * MPICH, or others, whose calls go on as if the library were not there. There may be
 * several functions of that name in the process.
 *
 * sg_caller_start: by one thread at a time, before MPICH starts; the rest: any thread. Not from a
 * signal handler.
 */
#ifndef SG_WAIT_CALLER_H
#define SG_WAIT_CALLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SG_CALLERS_MAX 64

/* A function that the library defines, too. Zero but for the first two, it is everybody else's. */
struct sg_caller {
    const char *symbol;
    void *own;   /* the library's */
    void *mpich; /* the one that MPICH is linked to */
    uintptr_t mpich_address;
    atomic_uintptr_t mpich_size; /* of its code, in bytes; 0: the three are not known */
    atomic_int others_count;
    struct {
        uintptr_t address;
        void *function;
    } others[SG_CALLERS_MAX]; /* that have called, and what each is linked to */
};

/* Finds MPICH's code and function. False: MPICH does not need the function, or does not find the
 * library's. */
bool sg_caller_start(struct sg_caller *caller);

/* What MPICH's object, or one that it needs, has by that name; NULL: nothing. */
void *sg_caller_find(const char *symbol);

static inline bool sg_caller_is_mpich(const struct sg_caller *caller, uintptr_t address)
{
    /* Pairs with the release where the size is set, after what it is the size of. */
    uintptr_t size = atomic_load_explicit(&caller->mpich_size, memory_order_acquire);

    return address - caller->mpich_address < size;
}

/* What the code at that address is linked to; NULL: nothing. */
void *sg_caller_function(struct sg_caller *caller, uintptr_t address);

#endif
