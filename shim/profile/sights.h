/* The filter of each function's calls: which calls the settings STAGGER_CALLS, STAGGER_EVENTS,
 * STAGGER_TRACE and STAGGER_CAUSES select for counting, events and following. Any thread; wrappers
 * read it before anything else. */
#ifndef SG_PROFILE_SIGHTS_H
#define SG_PROFILE_SIGHTS_H

#include "profile/counted_functions.h"

#include <stdatomic.h>

/* Bits of a function's filter. */
enum sg_profile_sight {
    SG_SIGHT_COUNTED = 1,
    SG_SIGHT_EVENT = 2, /* counted calls get an event */
    /* Even if not counted: the call makes a communicator or has a position among collectives. */
    SG_SIGHT_NOTED = 4,
    SG_SIGHT_BETWEEN = 8, /* intervals between calls, counted or not */
    /* Even if not counted: messages and requests, on which recorded ones depend. */
    SG_SIGHT_FOLLOWED = 16,
};

extern _Atomic uint8_t sg_profile_sights[SG_FUNCTION_COUNT]; /* 0: calls are not observed */

/* Call in MPI_Init, once the configuration is known. */
void sg_sights_open(void);

static inline uint8_t sg_profile_sight(enum sg_function function)
{
    return atomic_load_explicit(&sg_profile_sights[function], memory_order_relaxed);
}

#endif
