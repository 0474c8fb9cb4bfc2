/* Stands for an MPICH built with Argobots threads. Preloaded behind the library, which asks it for
 * its build configuration.
 */
#include <mpi.h>
#include <string.h>

int PMPI_Get_library_version(char *version, int *length)
{
    strcpy(version, "MPICH Version:\t4.0.2\nMPICH configure:\t--with-thread-package=argobots\n");
    *length = (int)strlen(version);
    return MPI_SUCCESS;
}
