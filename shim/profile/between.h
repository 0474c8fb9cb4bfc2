/* What is between calls of MPI (causes/causes.h): tells it of outermost calls, whatever wrapper
 * they come through, whether they are counted or not.
 *
 * Any thread; not from a signal handler.
 */
#ifndef SG_PROFILE_BETWEEN_H
#define SG_PROFILE_BETWEEN_H

#include "causes/causes.h"
#include "profile/comms.h"
#include "profile/site.h"
#include "profile/stack.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The calling thread's outermost call. */
extern __thread struct sg_stack_frame sg_between_outermost;

/* In MPI_Init, when the log is there. */
void sg_between_start(void);

void sg_between_end_interval(void);

/* A call begins. False: nothing is to be known of it, or it is part of another. frame, caller: of a
 * function that is there until it ends. */
static inline bool sg_between_enter(void *frame, void *caller)
{
    if (!atomic_load_explicit(&sg_causes_is_on, memory_order_relaxed) ||
        sg_stack_is_held(&sg_between_outermost, frame))
        return false;
    sg_between_outermost = (struct sg_stack_frame){(uintptr_t)frame, caller};
    if (__builtin_expect(sg_causes_samples, false))
        sg_between_end_interval();
    return true;
}

struct sg_between_call {
    void *caller;                       /* where its wrapper returns to */
    const struct sg_site *site;         /* NULL: not looked up yet */
    const struct sg_profile_comm *comm; /* of a collective that succeeded; NULL: it was none */
    uint64_t end_ns;                    /* core/tick.h's; 0: not known */
};

/* It ends: the last of all that is done for it. Only where enter was true. */
void sg_between_leave(const struct sg_between_call *call);

#endif
