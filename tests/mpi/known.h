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

/* More than a time slice: where others want the processors, the late rank loses its own in each
 * round, and another rank hardly ever loses its own between telling and calling. */
#define LATE_S 5e-3

/* Ranks tell a late one that they are about to call, by calls that stagger does not intercept on a
 * communicator that it does not know: however slow a rank is, the late one calls after it. */
static MPI_Comm telling;

static inline void known_init(int *argc, char ***argv, int *rank)
{
    MUST(MPI_Init(argc, argv));
    MUST(MPI_Comm_rank(WORLD, rank));
    MUST(PMPI_Comm_dup(WORLD, &telling));
}

static inline void known_finalize(void)
{
    MUST(PMPI_Comm_free(&telling));
    MUST(MPI_Finalize());
}

static inline void tell(int late)
{
    MUST(PMPI_Send(NULL, 0, MPI_INT, late, 0, telling));
}

/* Computes for LATE_S once so many others have told. */
static inline void be_late(int others)
{
    while (others-- > 0)
        MUST(PMPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 0, telling, IGNORE));
    for (double until_s = MPI_Wtime() + LATE_S; MPI_Wtime() < until_s;)
        ;
}

/* Every rank calls this where rank `late` of all is late. */
static inline void hold_back(int late)
{
    int rank, size;

    MUST(PMPI_Comm_rank(telling, &rank));
    MUST(PMPI_Comm_size(telling, &size));
    rank == late ? be_late(size - 1) : tell(late);
}

#endif
