#include "mpi/packed.h"

#include "mpi/real.h"

#include <limits.h>
#include <stdlib.h>

/* MPICH's handles of types that are not predefined carry one of two marks. Others are no such
 * types: asking MPICH about them would reach the wrong error handler. */
static bool is_derived(MPI_Datatype datatype)
{
    return ((unsigned)datatype & 0xbc000000u) == 0x8c000000u;
}

uint64_t sg_packed_bytes(const struct sg_call *call)
{
    MPI_Count size;

    if (call->count <= 0 || !is_derived(call->datatype) ||
        sg_real.Type_size_x(call->datatype, &size) != MPI_SUCCESS || size <= 0)
        return 0;
    return (uint64_t)call->count * (uint64_t)size;
}

/* ---- running --------------------------------------------------------------------------------- */

struct packed {
    struct sg_call call; /* first: what `run` gets */
    const struct sg_call *original;
    bool passed; /* MPICH has run it */
};

static int pass_original(const struct sg_call *call)
{
    struct packed *packed = (struct packed *)call;

    packed->passed = true;
    return packed->original->pass(packed->original);
}

/* MPI 4's functions count without limit; an MPICH that has none has no such counts either. */
static int pack(const struct sg_call *call, void *bytes)
{
    MPI_Count position = 0;
    int at = 0;

    if (sg_real.Pack_c != NULL)
        return sg_real.Pack_c(call->send, call->count, call->datatype, bytes,
                              (MPI_Count)call->bytes, &position, call->comm);
    return sg_real.Pack(call->send, (int)call->count, call->datatype, bytes, (int)call->bytes, &at,
                        call->comm);
}

static int unpack(const struct sg_call *call, const void *bytes)
{
    MPI_Count position = 0;
    int at = 0;

    if (sg_real.Unpack_c != NULL)
        return sg_real.Unpack_c(bytes, (MPI_Count)call->bytes, &position, call->receive,
                                call->count, call->datatype, call->comm);
    return sg_real.Unpack(bytes, (int)call->bytes, &at, call->receive, (int)call->count,
                          call->datatype, call->comm);
}

int sg_packed_run(const struct sg_call *call, const struct sg_choice *choice,
                  struct sg_call_statistics *statistics, sg_packed_runner run)
{
    struct packed packed = {.call = *call, .original = call};
    void *bytes = malloc(call->bytes);
    int error = MPI_SUCCESS, rank = -1;

    if (bytes == NULL)
        return sg_real.Comm_call_errhandler(call->comm, MPI_ERR_NO_MEM);
    sg_real.Comm_rank(call->comm, &rank);
    packed.call.send = packed.call.receive = bytes;
    packed.call.count = (MPI_Count)call->bytes;
    packed.call.datatype = MPI_BYTE;
    packed.call.pass = pass_original;
    if (rank == call->root)
        error = pack(call, bytes);
    if (error == MPI_SUCCESS)
        error = run(&packed.call, choice, statistics);
    if (error == MPI_SUCCESS && rank != call->root && !packed.passed)
        error = unpack(call, bytes);
    free(bytes);
    return error;
}
