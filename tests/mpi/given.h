/* Counts how often a rank yields its processor and sleeps, in memory of the program's choice: by
 * functions in the place of the C library's, which the library and MPICH call. Only the thread that
 * chose the memory counts. */
#ifndef SG_TESTS_GIVEN_H
#define SG_TESTS_GIVEN_H

#include "mpi_test.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

struct given {
    _Alignas(64) _Atomic long yields;
    _Atomic long sleeps;
};

static __thread struct given *given_own; /* NULL: nothing is counted */

int sched_yield(void)
{
    if (given_own != NULL)
        given_own->yields++;
    return (int)syscall(SYS_sched_yield);
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    if (given_own != NULL)
        given_own->sleeps++;
    return (int)syscall(SYS_nanosleep, time, left);
}

/* Memory of so many bytes that all ranks of the world share, by calls that stagger does not
 * intercept, until given_end. */
static inline void *given_share(size_t bytes, MPI_Win *window)
{
    int rank, unit;
    MPI_Aint size;
    void *memory;

    MUST(PMPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(PMPI_Win_allocate_shared(rank == 0 ? (MPI_Aint)bytes : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                                  &memory, window));
    MUST(PMPI_Win_shared_query(*window, 0, &size, &unit, &memory));
    if (rank == 0)
        memset(memory, 0, bytes);
    MUST(PMPI_Barrier(MPI_COMM_WORLD));
    return memory;
}

static inline void given_end(MPI_Win *window)
{
    given_own = NULL;
    MUST(PMPI_Win_free(window));
}

#endif
