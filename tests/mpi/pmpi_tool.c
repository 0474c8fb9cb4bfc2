/* A profiling tool: wraps the functions that the library wraps, and prints the number of calls at
 * MPI_Finalize. It calls PMPI_*. With TOOL_NEXT in the environment it calls the next MPI_* (as
 * tools that chain do), or only the next of the one function that TOOL_NEXT names. Built with
 * ONLY_FINALIZE it wraps only MPI_Finalize.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int barriers, reduces, allreduces;

static void *next(const char *name, void *profiled)
{
    const char *chained = getenv("TOOL_NEXT");
    bool chains = chained != NULL && (strncmp(chained, "MPI_", 4) != 0 || !strcmp(chained, name));

    return chains ? dlsym(RTLD_NEXT, name) : profiled;
}

#define NEXT(name) ((__typeof__(&P##name))next(#name, (void *)P##name))

int MPI_Finalize(void)
{
    int rank;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("{\"tool\":%d,\"barrier\":%d,\"reduce\":%d,\"allreduce\":%d}\n", rank, barriers, reduces,
           allreduces);
    fflush(stdout);
    return NEXT(MPI_Finalize)();
}

#ifndef ONLY_FINALIZE
int MPI_Init(int *argc, char ***argv)
{
    return NEXT(MPI_Init)(argc, argv);
}

int MPI_Barrier(MPI_Comm comm)
{
    barriers++;
    return NEXT(MPI_Barrier)(comm);
}

int MPI_Reduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
    reduces++;
    return NEXT(MPI_Reduce)(send, receive, count, type, op, root, comm);
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    allreduces++;
    return NEXT(MPI_Allreduce)(send, receive, count, type, op, comm);
}

int MPI_Comm_free(MPI_Comm *comm)
{
    return NEXT(MPI_Comm_free)(comm);
}
#endif
