/* Stands for MPICH's library of the MPI 5 ABI. Preloaded behind the library under test, which asks
 * it for its ABI version. With ABI_MAJOR -1 it stands for MPICH 5's own library, which has another
 * ABI.
 */
#include <mpi.h>
#include <string.h>

int PMPI_Abi_get_version(int *major, int *minor);

int PMPI_Abi_get_version(int *major, int *minor)
{
    *major = ABI_MAJOR;
    *minor = ABI_MAJOR < 0 ? -1 : 0;
    return MPI_SUCCESS;
}

int PMPI_Get_library_version(char *version, int *length)
{
    strcpy(version, "MPICH Version:      5.0.0\nMPICH Device:       ch4:other\n");
    *length = (int)strlen(version);
    return MPI_SUCCESS;
}
