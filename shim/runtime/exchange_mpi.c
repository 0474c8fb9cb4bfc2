#include "runtime/exchange_mpi.h"

#include "mpi/real.h"
#include "wait/yielding.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#define TAG 1
#define PIECE_BYTES (1 << 30) /* MPI counts are int */

static enum sg_status status_of(int error)
{
    return error == MPI_SUCCESS ? SG_OK : SG_ERR_SYSTEM;
}

static enum sg_status broadcast(void *context, void *data, size_t size_bytes)
{
    MPI_Comm *comm = context;
    char *from = data;

    while (size_bytes > 0) {
        int piece = size_bytes < PIECE_BYTES ? (int)size_bytes : PIECE_BYTES;

        if (sg_yielding_bcast(from, piece, MPI_BYTE, 0, *comm) != MPI_SUCCESS)
            return SG_ERR_SYSTEM;
        from += piece;
        size_bytes -= (size_t)piece;
    }
    return SG_OK;
}

/* Rank 0: where each rank's data goes. False when the total exceeds an int or the memory. */
static bool plan(const uint64_t *lengths, int size, int *counts, int *starts, size_t *sizes,
                 void **all)
{
    uint64_t total = 0;

    for (int rank = 0; rank < size; rank++) {
        if (total + lengths[rank] > INT_MAX)
            return false;
        starts[rank] = (int)total;
        counts[rank] = (int)lengths[rank];
        sizes[rank] = lengths[rank];
        total += lengths[rank];
    }
    *all = malloc(total + 1);
    return *all != NULL;
}

static enum sg_status gather(void *context, const void *data, size_t size_bytes, void **all,
                             size_t *sizes)
{
    MPI_Comm *comm = context;
    uint64_t length = size_bytes;
    uint64_t *lengths = NULL;
    int *counts = NULL;
    int *starts = NULL;
    void *collected = NULL;
    unsigned char ok = 1;
    enum sg_status status;
    int rank, size;

    sg_real.Comm_rank(*comm, &rank);
    sg_real.Comm_size(*comm, &size);
    if (rank == 0) {
        lengths = calloc((size_t)size, sizeof *lengths);
        counts = calloc((size_t)size, sizeof *counts);
        starts = calloc((size_t)size, sizeof *starts);
        ok = lengths != NULL && counts != NULL && starts != NULL;
    }
    /* Rank 0's memory decides for all ranks, before any of them waits for it. */
    status = broadcast(context, &ok, sizeof ok);
    if (status == SG_OK && !ok)
        status = SG_ERR_MEMORY;
    if (status == SG_OK)
        status = status_of(sg_yielding_gather(&length, 1, MPI_UINT64_T, lengths, 0, *comm));
    if (status == SG_OK) {
        if (rank == 0)
            ok = plan(lengths, size, counts, starts, sizes, &collected);
        status = broadcast(context, &ok, sizeof ok);
        if (status == SG_OK && !ok)
            status = SG_ERR_FULL;
    }
    if (status == SG_OK)
        status = status_of(
            sg_yielding_gatherv(data, (int)length, collected, counts, starts, MPI_BYTE, 0, *comm));
    if (status == SG_OK && rank == 0)
        *all = collected;
    else
        free(collected);
    free(lengths);
    free(counts);
    free(starts);
    return status;
}

static enum sg_status send_to(void *context, int to, const void *data, size_t size_bytes)
{
    MPI_Comm *comm = context;

    return status_of(sg_real.Send(data, (int)size_bytes, MPI_BYTE, to, TAG, *comm));
}

/* Where ranks share processors, the sender cannot run before this rank yields its own. */
static enum sg_status receive_from(void *context, int from, void *data, size_t size_bytes)
{
    MPI_Comm *comm = context;

    if (sg_yielding_probe(from, TAG, *comm) != MPI_SUCCESS)
        return SG_ERR_SYSTEM;
    return status_of(
        sg_real.Recv(data, (int)size_bytes, MPI_BYTE, from, TAG, *comm, MPI_STATUS_IGNORE));
}

void sg_exchange_mpi(MPI_Comm *comm, int rank, int size, struct sg_exchange *out)
{
    out->rank = rank;
    out->size = size;
    out->context = comm;
    out->gather = gather;
    out->broadcast = broadcast;
    out->send = send_to;
    out->receive = receive_from;
}
