/* Stands for MPICH 4.2 or later where the real one lacks these functions; implements them by
 * MPI_Request_get_status. Preloaded behind the library, which finds them here.
 */
#include <mpi.h>

int get_all(int count, const MPI_Request *requests, int *flag, MPI_Status *statuses);
int get_any(int count, const MPI_Request *requests, int *index, int *flag, MPI_Status *status);
int get_some(int count, const MPI_Request *requests, int *done, int *indices, MPI_Status *statuses);

int get_some(int count, const MPI_Request *requests, int *done, int *indices, MPI_Status *statuses)
{
    int active = 0, error = MPI_SUCCESS;

    *done = 0;
    for (int i = 0; i < count && error == MPI_SUCCESS; i++) {
        int flag = 0;

        if (requests[i] == MPI_REQUEST_NULL)
            continue;
        active++;
        error = PMPI_Request_get_status(requests[i], &flag,
                                        statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE
                                                                        : &statuses[*done]);
        if (flag)
            indices[(*done)++] = i;
    }
    if (active == 0)
        *done = MPI_UNDEFINED;
    return error;
}

int get_any(int count, const MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    int active = 0, error = MPI_SUCCESS;

    *flag = 0;
    *index = MPI_UNDEFINED;
    for (int i = 0; i < count && !*flag && error == MPI_SUCCESS; i++) {
        if (requests[i] == MPI_REQUEST_NULL)
            continue;
        active++;
        error = PMPI_Request_get_status(requests[i], flag, status);
        if (*flag)
            *index = i;
    }
    if (active == 0)
        *flag = 1;
    return error;
}

int get_all(int count, const MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    int error = MPI_SUCCESS;

    *flag = 1;
    for (int i = 0; i < count && *flag && error == MPI_SUCCESS; i++)
        error = PMPI_Request_get_status(
            requests[i], flag, statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
    return error;
}

#define NAMES(function, name)                                                                      \
    extern __typeof__(function) m_##function __asm__("MPI_" name)                                  \
        __attribute__((alias(#function)));                                                         \
    extern __typeof__(function) p_##function __asm__("PMPI_" name)                                 \
        __attribute__((alias(#function)));                                                         \
    extern __typeof__(function) x_##function __asm__("MPIX_" name)                                 \
        __attribute__((alias(#function)));                                                         \
    extern __typeof__(function) px_##function __asm__("PMPIX_" name)                               \
        __attribute__((alias(#function)));

NAMES(get_all, "Request_get_status_all")
NAMES(get_any, "Request_get_status_any")
NAMES(get_some, "Request_get_status_some")
