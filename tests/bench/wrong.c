/* For LD_PRELOAD: spoils the collective that WRONG names, so that a benchmark which checks its
 * results has something to find.
 *
 *   MPI_Allreduce, PMPI_Allreduce  the last element is off by one, on rank 1
 *   MPI_Iallreduce                 likewise
 *   MPI_Reduce                     the same on the root
 *   untouched                      MPI_Reduce writes on ranks other than the root
 *   MPI_Barrier                    nobody waits
 *   PMPI_Alltoall                  the last element is off by one, on rank 1
 *
 * WRONG_AFTER: the number of its calls that are right first.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef int (*allreduce_function)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);

static bool spoils(const char *name)
{
    static int calls;
    const char *wrong = getenv("WRONG"), *after = getenv("WRONG_AFTER");

    return wrong != NULL && strcmp(wrong, name) == 0 &&
           calls++ >= (after != NULL ? atoi(after) : 0);
}

/* Doubles alone, which are what is measured: not what the program counts its ranks with. */
static void spoil(void *receive, int count, MPI_Datatype datatype)
{
    if (datatype == MPI_DOUBLE && count > 0)
        ((double *)receive)[count - 1] += 1;
}

static bool is_rank(MPI_Comm comm, int wanted)
{
    int rank;

    PMPI_Comm_rank(comm, &rank);
    return rank == wanted;
}

static int next_allreduce(const void *send, void *receive, int count, MPI_Datatype datatype,
                          MPI_Op op, MPI_Comm comm, bool wrong)
{
    allreduce_function next = (allreduce_function)dlsym(RTLD_NEXT, "PMPI_Allreduce");
    int error = next(send, receive, count, datatype, op, comm);

    if (wrong && is_rank(comm, 1))
        spoil(receive, count, datatype);
    return error;
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm)
{
    return next_allreduce(send, receive, count, datatype, op, comm, spoils("MPI_Allreduce"));
}

int PMPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm)
{
    return next_allreduce(send, receive, count, datatype, op, comm, spoils("PMPI_Allreduce"));
}

/* Over when it returns; the request is another operation's. */
int MPI_Iallreduce(const void *send, void *receive, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    next_allreduce(send, receive, count, datatype, op, comm, spoils("MPI_Iallreduce"));
    return PMPI_Ibarrier(MPI_COMM_SELF, request);
}

int MPI_Reduce(const void *send, void *receive, int count, MPI_Datatype datatype, MPI_Op op,
               int root, MPI_Comm comm)
{
    int error = PMPI_Reduce(send, receive, count, datatype, op, root, comm);

    if (is_rank(comm, root) ? spoils("MPI_Reduce") : spoils("untouched"))
        spoil(receive, count, datatype);
    return error;
}

int PMPI_Alltoall(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                  int receive_count, MPI_Datatype receive_type, MPI_Comm comm)
{
    typedef int (*function)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
    function next = (function)dlsym(RTLD_NEXT, "PMPI_Alltoall");
    int error = next(send, send_count, send_type, receive, receive_count, receive_type, comm),
        ranks;

    PMPI_Comm_size(comm, &ranks);
    if (spoils("PMPI_Alltoall") && is_rank(comm, 1))
        spoil(receive, receive_count * ranks, receive_type);
    return error;
}

int MPI_Barrier(MPI_Comm comm)
{
    return spoils("MPI_Barrier") ? MPI_SUCCESS : PMPI_Barrier(comm);
}
