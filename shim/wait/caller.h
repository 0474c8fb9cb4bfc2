/* Identifies the caller of a function that the library defines as well as another library: MPICH,
 * or other code, whose calls proceed as if the library were not there. The process may have several
 * functions of that name.
 *
 * sg_caller_start: one thread at a time, before MPICH starts; the rest: any thread. Not from a
 * signal handler.
 */
#ifndef SG_WAIT_CALLER_H
#define SG_WAIT_CALLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SG_CALLERS_MAX 64

/* A function that the library also defines. Zero except for the first two members, it counts all
 * callers as other code. */
struct sg_caller {
    const char *symbol;
    void *own;   /* the library's definition */
    void *mpich; /* the definition that MPICH is linked to */
    uintptr_t mpich_address;
    atomic_uintptr_t mpich_size; /* of MPICH's code, in bytes; 0: all three are unknown */
    atomic_int others_count;
    struct {
        uintptr_t address;
        void *function;
    } others[SG_CALLERS_MAX]; /* callers, and the definition that each is linked to */
};

/* Finds MPICH's code and its definition. False: MPICH does not need the function, or does not find
 * the library's. */
bool sg_caller_start(struct sg_caller *caller);

/* Returns the symbol as MPICH's object and its dependencies define it; NULL: missing. */
void *sg_caller_find(const char *symbol);

static inline bool sg_caller_is_mpich(const struct sg_caller *caller, uintptr_t address)
{
    /* Pairs with the release store of the size, which follows that of the address. */
    uintptr_t size = atomic_load_explicit(&caller->mpich_size, memory_order_acquire);

    return address - caller->mpich_address < size;
}

/* Returns the definition that the code at that address is linked to; NULL: none. */
void *sg_caller_function(struct sg_caller *caller, uintptr_t address);

#endif
