/* Call sites: the application's frame that called MPI, as a stable id. Also finds out whether a
 * frame is live, and a table of pointers that readers use without a lock.
 *
 * The id is a hash of (build id or module name, offset in the module) of the return address, or of
 * the first STAGGER_DEPTH frames: the same on every rank and in every run, whatever the address
 * space layout. Frames inside MPI libraries are skipped: MPICH's Fortran routines call the C ones.
 *
 * Fast path: a return address known to be in the application costs one table look-up; only calls
 * through MPI's own libraries, or a depth above 1, walk the stack. The first look-up of a site
 * takes a lock and may allocate. Thread-safe; never from a signal handler.
 */
#ifndef SG_PROFILE_SITE_H
#define SG_PROFILE_SITE_H

#include "core/hash.h"
#include "core/text.h"
#include "rule/rule.h"
#include "trace/record.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_site {
    struct sg_site *next;
    uint32_t index;           /* in this rank's log; 0: the site "unknown" */
    struct sg_rule_site rule; /* id, module, offset; names when rules need them */
    /* The choice for an operation, if it is the same for all communicators and sizes. */
    _Atomic(const struct sg_choice *) fixed[SG_OPERATION_COUNT];
    _Atomic uint32_t left; /* with causes: ended calls at the site that are no collectives */
    /* Statistics entry last used for an operation: a first guess. */
    _Atomic(struct sg_record_stat *) last[SG_OPERATION_COUNT];
};

/* Returns the site of the call whose wrapper was entered from return_address; never NULL. */
struct sg_site *sg_site_of(void *return_address);
/* The same if the address alone decides the site; NULL: the stack does. */
struct sg_site *sg_site_of_address(void *return_address);

/* Changes when an address or a communicator's handle may mean something else than before. */
extern _Atomic uint32_t sg_site_meaning;

/* Formats a call site of any rank of this program as "FUNCTION FILE:LINE", for a message. Looks up
 * names, which may take milliseconds. module: the base name, maybe cut from the left. False: not
 * known. */
bool sg_site_locate(uint32_t id, const char *module, uint64_t offset, char *text,
                    size_t text_bytes);

/* dlclose (intercept/by_handle.c) calls it when it has unloaded an object. NULL: there is no site.
 */
extern void (*_Atomic sg_site_after_unload)(void);

/* ---- functions that call back ----
 *
 * Decides whether a call is inside another function: collectives in callbacks of MPI_Comm_free,
 * which all ranks run, pass through; MPI calls inside MPI calls count once. A call is inside as
 * long as the function's frame is on the calling thread's stack. An exception or longjmp may leave
 * the function unnoticed, so only the stack decides.
 *
 * The check walks the stack with the compiler's unwinder: some microseconds, and the first time it
 * may load libgcc_s. Not from a signal handler.
 */

/* A function's frame: __builtin_frame_address(0) and __builtin_return_address(0) in it. */
struct sg_stack_frame {
    uintptr_t address; /* 0: none */
    void *caller;
};

/* The calling thread's function whose callbacks pass through; and the call that is counted. */
extern __thread struct sg_stack_frame sg_stack_ending, sg_stack_outermost;

/* Holds a frame until release, which takes the result of hold. held: the calling thread's; zeroed:
 * none. */
struct sg_stack_frame sg_stack_hold(struct sg_stack_frame *held, void *frame, void *caller);
void sg_stack_release(struct sg_stack_frame *held, struct sg_stack_frame before);
/* True if the holding function is live above the frame. False if its frame is gone, or if frames
 * without unwind information hide it. */
bool sg_stack_look(struct sg_stack_frame *held, void *frame);

static inline bool sg_stack_is_held(struct sg_stack_frame *held, void *frame)
{
    return __builtin_expect(held->address != 0, 0) && sg_stack_look(held, frame);
}

/* ---- a table from keys (not 0) to pointers ----
 *
 * Open addressing; a key stays, its value may be forgotten and added again. Readers take no lock;
 * writers hold the caller's. A full table adds nothing.
 */

#define SG_POINTER_TABLE_SLOTS 65536u /* a power of two; at most half is used */

struct sg_pointer_table {
    struct sg_pointer_table_slot {
        _Atomic uint64_t key; /* 0: free */
        void *_Atomic value;  /* NULL: forgotten */
    } slots[SG_POINTER_TABLE_SLOTS];
    _Atomic unsigned used;
};

/* NULL: not there. */
static inline void *sg_pointer_table_find(const struct sg_pointer_table *table, uint64_t key)
{
    for (uint64_t at = sg_hash_mix(key);; at++) {
        const struct sg_pointer_table_slot *slot = &table->slots[at % SG_POINTER_TABLE_SLOTS];
        /* Acquire: pairs with sg_pointer_table_add; the value is there. */
        uint64_t found = atomic_load_explicit(&slot->key, memory_order_acquire);

        if (found == key)
            return atomic_load_explicit(&slot->value, memory_order_acquire);
        if (found == 0)
            return NULL;
    }
}

/* Returns the value in a slot, to walk all of them; NULL: the slot is free. */
static inline void *sg_pointer_table_at(const struct sg_pointer_table *table, unsigned slot)
{
    return atomic_load_explicit(&table->slots[slot].key, memory_order_acquire) != 0
               ? atomic_load_explicit(&table->slots[slot].value, memory_order_acquire)
               : NULL;
}

static inline bool sg_pointer_table_is_full(const struct sg_pointer_table *table)
{
    return table->used >= SG_POINTER_TABLE_SLOTS / 2;
}

/* The key has no value in the table. */
static inline void sg_pointer_table_add(struct sg_pointer_table *table, uint64_t key, void *value)
{
    uint64_t at = sg_hash_mix(key);
    struct sg_pointer_table_slot *slot;
    uint64_t found;

    for (;; at++) {
        slot = &table->slots[at % SG_POINTER_TABLE_SLOTS];
        found = atomic_load_explicit(&slot->key, memory_order_relaxed);
        if (found == key || found == 0)
            break;
    }
    if (found == 0 && sg_pointer_table_is_full(table))
        return;
    /* Release: see sg_pointer_table_find. */
    atomic_store_explicit(&slot->value, value, memory_order_release);
    atomic_store_explicit(&slot->key, key, memory_order_release);
    table->used += found == 0;
}

/* The key of the slot, if it has one, has no value from now on. */
static inline void sg_pointer_table_forget(struct sg_pointer_table *table, unsigned slot)
{
    atomic_store_explicit(&table->slots[slot].value, NULL, memory_order_relaxed);
}

#endif
