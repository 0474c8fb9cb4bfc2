/* Tests that find nothing: the calling thread's latest stretch of them, without much time between
 * them. They have no event; the test that ends them reports the stretch.
 *
 * In a tight loop of tests at one call site, most are repeats: one reading of the counter and one
 * addition to the statistics. One in SG_POLLING_MEASURED is measured, and the others are assumed to
 * take as long. A pause in the loop is the program's work if the thread had the processor.
 *
 * All state is the calling thread's; not from a signal handler.
 */
#ifndef SG_PROFILE_POLLING_H
#define SG_PROFILE_POLLING_H

#include "core/tick.h"
#include "mpi/real.h"
#include "profile/counted_functions.h"
#include "profile/site.h"
#include "trace/record.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SG_POLLING_MEASURED 32u

/* A test's place in the program, and its entry in the statistics. */
struct sg_polling_place {
    enum sg_function function;
    sg_word comm; /* its communicator's handle; 0: none */
    void *caller;
    const struct sg_site *site;
    struct sg_record_profile *entry;
};

struct sg_polling {
    uint64_t begin_ns; /* of the stretch's first test */
    uint64_t inside_ns;
    uint64_t reading_ns; /* since then, in readings for the causes: not the program's time */
    struct sg_polling_place place;
    uint32_t in_row; /* measured tests there, each soon after the one before */
    uint64_t last_end_ns;
    uint64_t usual_ns; /* duration of a test */
    /* Repeats. */
    bool is_tight;     /* the next test may be one */
    uint32_t left;     /* until the next one that is measured */
    uint32_t count;    /* not settled yet */
    uint64_t first;    /* counter before the first one */
    uint64_t last;     /* counter at the begin of the last one */
    uint64_t near;     /* counts after it, within which the next has to begin */
    uint64_t mark_ns;  /* time ... */
    uint64_t mark_cpu; /* ... and processor time of the thread, read together */
};

extern __thread struct sg_polling sg_polling __attribute__((tls_model("initial-exec")));

/* Call when a counted call begins, while is_tight. True: it repeats the test before it. *counter:
 * the counter. Else call sg_polling_interrupt when it has begun. */
static inline bool sg_polling_repeats(enum sg_function function, sg_word comm, void *caller,
                                      uint64_t *counter)
{
    struct sg_polling *own = &sg_polling;

    if (own->left == 0 || own->place.caller != caller || own->place.function != function ||
        own->place.comm != comm)
        return false;
    *counter = sg_tick_counter();
    return *counter - own->last <= own->near;
}

/* Counts a repeat that found nothing. */
static inline void sg_polling_repeat(uint64_t counter)
{
    struct sg_polling *own = &sg_polling;
    _Atomic uint64_t *calls = &own->place.entry->calls;

    /* Only this thread writes. */
    atomic_store_explicit(calls, atomic_load_explicit(calls, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    own->last = counter;
    own->left--;
    own->count++;
}

/* Ends the repeats, at begin_ns of the call after them. */
void sg_polling_interrupt(uint64_t begin_ns);

/* Notes a measured test that found nothing. can_repeat: the next ones may be repeats. */
void sg_polling_note(const struct sg_polling_place *place, uint64_t begin_ns, uint64_t end_ns,
                     bool can_repeat);
/* Ends the stretch by a test that found something. Returns for how long the thread had polled when
 * the test began; 0: it had not. */
uint64_t sg_polling_end(uint64_t begin_ns);

#endif
