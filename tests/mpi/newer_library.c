/* Stands for an MPI 4.1 where the real one lacks buffers of communicators: it uses the process's
 * buffer instead, and a flush waits for all ranks of the communicator. Preloaded behind the
 * library, which finds these functions here.
 */
#include <mpi.h>

int attach(MPI_Comm comm, void *buffer, int size);
int detach(MPI_Comm comm, void *buffer, int *size);
int flush(MPI_Comm comm);
int iflush(MPI_Comm comm, MPI_Request *request);
int flush_all(void);
int iflush_all(MPI_Request *request);

int attach(MPI_Comm comm, void *buffer, int size)
{
    return comm == MPI_COMM_NULL ? MPI_ERR_COMM : PMPI_Buffer_attach(buffer, size);
}

int flush(MPI_Comm comm)
{
    return comm == MPI_COMM_NULL ? MPI_ERR_COMM : PMPI_Barrier(comm);
}

int iflush(MPI_Comm comm, MPI_Request *request)
{
    return PMPI_Ibarrier(comm, request);
}

int detach(MPI_Comm comm, void *buffer, int *size)
{
    int error = flush(comm);

    return error != MPI_SUCCESS ? error : PMPI_Buffer_detach(buffer, size);
}

int flush_all(void)
{
    return flush(MPI_COMM_SELF);
}

int iflush_all(MPI_Request *request)
{
    return iflush(MPI_COMM_SELF, request);
}

#define NAMES(function, name)                                                                      \
    extern __typeof__(function) m_##function __asm__("MPI_" name)                                  \
        __attribute__((alias(#function)));                                                         \
    extern __typeof__(function) p_##function __asm__("PMPI_" name)                                 \
        __attribute__((alias(#function)));

NAMES(attach, "Comm_attach_buffer")
NAMES(detach, "Comm_detach_buffer")
NAMES(flush, "Comm_flush_buffer")
NAMES(iflush, "Comm_iflush_buffer")
NAMES(flush_all, "Buffer_flush")
NAMES(iflush_all, "Buffer_iflush")
