/* The threads of this rank that record, by numbers from 0: 0 is the one that called MPI_Init. */
#ifndef SG_PROFILE_THREAD_H
#define SG_PROFILE_THREAD_H

#include <stdint.h>

uint16_t sg_thread_number_new(void);

/* 1 + the calling thread's; 0: not yet known. */
extern __thread uint16_t sg_thread_own;

/* The calling thread's number. Also from a signal handler. */
static inline uint16_t sg_thread_number(void)
{
    if (__builtin_expect(sg_thread_own == 0, 0))
        return sg_thread_number_new();
    return (uint16_t)(sg_thread_own - 1);
}

#endif
