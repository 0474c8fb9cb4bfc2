/* Programs whose waits a test knows: functions with one call site each, and ranks that are late. */
#ifndef SG_TESTS_KNOWN_H
#define SG_TESTS_KNOWN_H

#include "mpi_test.h"

#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE
#define NOINLINE __attribute__((noinline))
#define STAY __asm__ volatile("") /* the call before it is not a jump out of the function */

/* A function that is not inlined and makes these calls:
 *
 *     SITE(early_send(int tag), MPI_Send(...), MPI_Send(...))
 */
#define SITE(signature, ...)                                                                       \
    NOINLINE static void signature                                                                 \
    {                                                                                              \
        (void)(__VA_ARGS__);                                                                       \
        STAY;                                                                                      \
    }

static inline void compute_for(double seconds)
{
    double until_s = MPI_Wtime() + seconds;

    while (MPI_Wtime() < until_s)
        ;
}

#endif
