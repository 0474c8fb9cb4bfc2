/* MPI's functions in this rank's log: a definition each, when one is called first.
 *
 * Any thread, while there is a log; not from a signal handler.
 */
#ifndef SG_PROFILE_FUNCTION_LOG_H
#define SG_PROFILE_FUNCTION_LOG_H

#include "profile/function.h"

#include <stdatomic.h>

extern _Atomic uint32_t sg_function_numbers[SG_FUNCTION_COUNT];

uint32_t sg_function_define(enum sg_function function);

/* Its number plus one; 0: the disk is full. */
static inline uint32_t sg_function_number(enum sg_function function)
{
    uint32_t number = atomic_load_explicit(&sg_function_numbers[function], memory_order_relaxed);

    return __builtin_expect(number > 0, 1) ? number : sg_function_define(function);
}

/* Counts an event of a function, as left out. */
void sg_function_leave_out(enum sg_function function);

#endif
