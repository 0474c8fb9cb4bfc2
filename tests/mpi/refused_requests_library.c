/* Stands for an MPICH that is out of generalized requests. Preloaded behind the library, which
 * finds these functions first.
 */
#include <mpi.h>

int PMPIX_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *free,
                         MPI_Grequest_cancel_function *cancel, MPIX_Grequest_poll_function *poll,
                         MPIX_Grequest_wait_function *wait, void *state, MPI_Request *request)
{
    return MPI_ERR_OTHER;
}
