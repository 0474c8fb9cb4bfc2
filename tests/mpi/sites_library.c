/* Call sites in a shared library, for sites.c. */
#include "sites_library.h"

#include "mpi_test.h"

void library_barrier(void)
{
    MUST(MPI_Barrier(MPI_COMM_WORLD)); /* SITE: library-barrier */
}

void library_allreduce(void)
{
    double mine = 1, sum;

    MUST(MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)); /* SITE: library */
}
