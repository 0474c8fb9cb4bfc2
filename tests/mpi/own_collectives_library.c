/* Preloaded behind the library under test: counts the collectives of MPICH that the library itself
 * runs in MPI_Init and MPI_Finalize, and prints their number at the end of rank 0.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int calls;

__attribute__((destructor)) static void print(void)
{
    const char *rank = getenv("PMI_RANK");

    if (calls > 0 && rank != NULL && strcmp(rank, "0") == 0)
        fprintf(stdout, "own %d\n", calls);
}

/* Parameters and arguments as in mpi.h. */
#define COUNTED(name, parameters, arguments)                                                       \
    int name parameters;                                                                           \
    int name parameters                                                                            \
    {                                                                                              \
        int(*next) parameters = (int(*) parameters)dlsym(RTLD_NEXT, #name);                        \
                                                                                                   \
        calls++;                                                                                   \
        return next arguments;                                                                     \
    }

COUNTED(PMPI_Ibarrier, (MPI_Comm comm, MPI_Request *request), (comm, request))
COUNTED(PMPI_Ibcast,
        (void *data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request),
        (data, count, type, root, comm, request))
COUNTED(PMPI_Iallreduce,
        (const void *from, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
         MPI_Request *request),
        (from, into, count, type, op, comm, request))
COUNTED(PMPI_Iallgather,
        (const void *from, int count, MPI_Datatype type, void *into, int into_count,
         MPI_Datatype into_type, MPI_Comm comm, MPI_Request *request),
        (from, count, type, into, into_count, into_type, comm, request))
COUNTED(PMPI_Igather,
        (const void *from, int count, MPI_Datatype type, void *into, int into_count,
         MPI_Datatype into_type, int root, MPI_Comm comm, MPI_Request *request),
        (from, count, type, into, into_count, into_type, root, comm, request))
COUNTED(PMPI_Igatherv,
        (const void *from, int count, MPI_Datatype type, void *into, const int *counts,
         const int *starts, MPI_Datatype into_type, int root, MPI_Comm comm, MPI_Request *request),
        (from, count, type, into, counts, starts, into_type, root, comm, request))
COUNTED(PMPI_Comm_idup, (MPI_Comm comm, MPI_Comm *out, MPI_Request *request), (comm, out, request))
COUNTED(PMPI_Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *out),
        (comm, group, tag, out))
COUNTED(PMPI_Barrier, (MPI_Comm comm), (comm))
