/* Stands for an MPICH whose threads are Argobots': preloaded behind the library, which asks it what
 * it was built with.
 */
#include <mpi.h>
#include <string.h>

int PMPI_Get_library_version(char *version, int *length)
{
    strcpy(version, "MPICH Version:\t4.0.2\nMPICH configure:\t--with-thread-package=argobots\n");
    *length = (int)strlen(version);
    return MPI_SUCCESS;
}
