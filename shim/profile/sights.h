/* What is seen of each function's calls, by STAGGER_CALLS, STAGGER_EVENTS, STAGGER_TRACE and
 * STAGGER_CAUSES. */
#ifndef SG_PROFILE_SIGHTS_H
#define SG_PROFILE_SIGHTS_H

#include "profile/counted_functions.h"

#include <stdatomic.h>

/* What is seen of a function's calls. */
enum sg_profile_sight {
    SG_SIGHT_COUNTED = 1,
    SG_SIGHT_EVENT = 2, /* those that are counted are in the log */
    /* Also where they are not counted: a communicator is made, or a collective ordered. */
    SG_SIGHT_NOTED = 4,
    SG_SIGHT_BETWEEN = 8, /* what is between calls, whether they are counted or not */
    /* Also where they are not counted: messages and requests, for those that are. */
    SG_SIGHT_FOLLOWED = 16,
};

extern _Atomic uint8_t sg_profile_sights[SG_FUNCTION_COUNT]; /* 0: nothing */

/* In MPI_Init, once the configuration is known. */
void sg_sights_open(void);

static inline uint8_t sg_profile_sight(enum sg_function function)
{
    return atomic_load_explicit(&sg_profile_sights[function], memory_order_relaxed);
}

#endif
