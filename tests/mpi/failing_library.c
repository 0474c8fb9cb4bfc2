/* An MPI_Reduce_local that fails for user operations after it has done its work. Preloaded behind
 * libstagger.so, which finds it instead of MPICH's.
 */
#include <dlfcn.h>
#include <mpi.h>

/* MPICH's handles of what a program made. */
#define IS_THE_USERS(op) (((unsigned)(op)&0x80000000u) != 0)

int PMPI_Reduce_local(const void *in, void *inout, int count, MPI_Datatype datatype, MPI_Op op)
{
    int (*reduce_local)(const void *, void *, int, MPI_Datatype, MPI_Op);

    *(void **)&reduce_local = dlsym(RTLD_NEXT, "PMPI_Reduce_local");
    int status = reduce_local(in, inout, count, datatype, op);
    return status == MPI_SUCCESS && IS_THE_USERS(op) ? MPI_ERR_OTHER : status;
}
