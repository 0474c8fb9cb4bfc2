/* Packs and unpacks broadcasts with MPICH's functions (packed.h). The packed call replaces the
 * application's: bytes as MPI_BYTE, or the buffer itself if the type has no holes.
 */
#include "mpi/packed.h"

#include "mpi/operands.h"
#include "mpi/real.h"

#include <limits.h>
#include <stdlib.h>

/* MPICH's handles of derived types have one of two marks. Do not ask MPICH about other handles:
 * that would reach the wrong error handler. */
static bool is_derived(MPI_Datatype datatype)
{
    return ((unsigned)datatype & 0xbc000000u) == 0x8c000000u;
}

/* The library's communicator: its errors reach no handler of the application's. */
static MPI_Comm own = MPI_COMM_NULL;

void sg_packed_start(MPI_Comm comm)
{
    own = comm;
}

/* Ask only for calls that use a type. */
static bool is_committed(MPI_Datatype datatype)
{
    static char nothing;
    int position = 0;

    return own == MPI_COMM_NULL ||
           sg_real.Pack(&nothing, 0, datatype, &nothing, 1, &position, own) == MPI_SUCCESS;
}

uint64_t sg_packed_bytes(const struct sg_call *call)
{
    MPI_Count size;

    if (call->count <= 0 || !is_derived(call->datatype) || !is_committed(call->datatype) ||
        sg_real.Type_size_x(call->datatype, &size) != MPI_SUCCESS || size <= 0)
        return 0;
    return (uint64_t)call->count * (uint64_t)size;
}

/* ---- types without holes --------------------------------------------------------------------- */

#define NESTED_MOST 8 /* depth of nested types to inspect */

struct made {
    int integers, addresses, types, combiner;
};

static struct made made_of(MPI_Datatype datatype)
{
    struct made made = {.combiner = MPI_COMBINER_STRUCT};

    if (sg_type_is_builtin(datatype))
        made.combiner = MPI_COMBINER_NAMED;
    else
        sg_real.Type_get_envelope(datatype, &made.integers, &made.addresses, &made.types,
                                  &made.combiner);
    return made;
}

/* True if elements are in memory in packing order: copies of one predefined type, one after the
 * other. */
static bool is_in_order(MPI_Datatype datatype, int nested)
{
    struct made made = made_of(datatype);
    MPI_Datatype inner = MPI_DATATYPE_NULL;
    MPI_Aint no_addresses;
    int numbers[3];
    bool in_order;

    if (made.combiner == MPI_COMBINER_NAMED)
        return true;
    if ((made.combiner != MPI_COMBINER_DUP && made.combiner != MPI_COMBINER_CONTIGUOUS &&
         made.combiner != MPI_COMBINER_VECTOR) ||
        nested == NESTED_MOST ||
        sg_real.Type_get_contents(datatype, made.integers, 0, 1, numbers, &no_addresses, &inner) !=
            MPI_SUCCESS)
        return false;
    in_order = is_in_order(inner, nested + 1);
    if (made_of(inner).combiner != MPI_COMBINER_NAMED)
        sg_real.Type_free(&inner);
    return in_order;
}

/* The extent is as large as the data: there are no holes. */
bool sg_packed_is_plain(const struct sg_call *call)
{
    MPI_Count size, low, extent;

    return is_derived(call->datatype) && call->receive != MPI_BOTTOM &&
           sg_real.Type_size_x(call->datatype, &size) == MPI_SUCCESS &&
           sg_real.Type_get_extent_x(call->datatype, &low, &extent) == MPI_SUCCESS && low == 0 &&
           extent == size && is_in_order(call->datatype, 0);
}

/* ---- packing --------------------------------------------------------------------------------- */

/* MPICH cannot pack from MPI_BOTTOM: describes the same elements relative to another address. */
static int see_from_elsewhere(struct sg_packed *packed)
{
    static char elsewhere;
    MPI_Aint back = -(MPI_Aint)&elsewhere;
    int count = (int)packed->count;
    MPI_Datatype type;
    int error;

    if (packed->count > INT_MAX)
        return MPI_ERR_COUNT;
    error = sg_real.Type_create_hindexed(1, &count, &back, packed->type, &type);
    if (error != MPI_SUCCESS)
        return error;
    packed->type = type;
    packed->owns_type = true;
    packed->buffer = &elsewhere;
    packed->count = 1;
    return sg_real.Type_commit(&packed->type);
}

/* keeps: duplicates the type. On an error too, packed has what has been allocated. */
static int packed_of(const struct sg_call *call, void *bytes, bool keeps, struct sg_packed *packed)
{
    int error;

    *packed = (struct sg_packed){bytes,          call->receive,       call->count,
                                 call->datatype, (size_t)call->bytes, false};
    if (bytes == NULL)
        return MPI_ERR_NO_MEM;
    if (call->receive == MPI_BOTTOM && !sg_type_is_builtin(call->datatype))
        return see_from_elsewhere(packed);
    if (!keeps)
        return MPI_SUCCESS;
    error = sg_real.Type_dup(call->datatype, &packed->type);
    packed->owns_type = error == MPI_SUCCESS;
    return error;
}

/* MPI 4's functions have wide counts. An MPICH without them has no such counts in its calls
 * either. */
static int pack(const struct sg_packed *packed, MPI_Comm comm)
{
    MPI_Count position = 0;
    int at = 0;

    if (sg_real.Pack_c != NULL)
        return sg_real.Pack_c(packed->buffer, packed->count, packed->type, packed->bytes,
                              (MPI_Count)packed->size_bytes, &position, comm);
    return sg_real.Pack(packed->buffer, (int)packed->count, packed->type, packed->bytes,
                        (int)packed->size_bytes, &at, comm);
}

static int unpack(const struct sg_packed *packed, MPI_Comm comm)
{
    MPI_Count position = 0;
    int at = 0;

    if (sg_real.Unpack_c != NULL)
        return sg_real.Unpack_c(packed->bytes, (MPI_Count)packed->size_bytes, &position,
                                packed->buffer, packed->count, packed->type, comm);
    return sg_real.Unpack(packed->bytes, (int)packed->size_bytes, &at, packed->buffer,
                          (int)packed->count, packed->type, comm);
}

/* Frees the data and the type. */
static void end(struct sg_packed *packed)
{
    if (packed->owns_type)
        sg_real.Type_free(&packed->type);
    free(packed->bytes);
    *packed = (struct sg_packed){0};
}

/* ---- a call that waits ---- */

struct sg_call sg_packed_as_bytes(const struct sg_call *call)
{
    struct sg_call bytes = *call;

    bytes.count = (MPI_Count)call->bytes;
    bytes.datatype = MPI_BYTE;
    bytes.original = call;
    return bytes;
}

int sg_packed_begin_call(const struct sg_call *call, struct sg_packed_call *packed)
{
    int error = packed_of(call, malloc(call->bytes), false, &packed->data), rank = -1;

    if (error != MPI_SUCCESS) {
        end(&packed->data);
        return error;
    }
    sg_real.Comm_rank(call->comm, &rank);
    packed->is_root = rank == call->root;
    packed->call = sg_packed_as_bytes(call);
    packed->call.send = packed->call.receive = packed->data.bytes;
    return MPI_SUCCESS;
}

int sg_packed_fill(const struct sg_packed_call *packed)
{
    return packed->is_root ? pack(&packed->data, packed->call.comm) : MPI_SUCCESS;
}

int sg_packed_end_call(struct sg_packed_call *packed, bool has_data)
{
    int error = MPI_SUCCESS;

    if (has_data && !packed->is_root)
        error = unpack(&packed->data, packed->call.comm);
    end(&packed->data);
    return error;
}

/* ---- a call that continues ---- */

bool sg_packed_wants(const struct sg_call *call)
{
    return call->operation == SG_OPERATION_BCAST && !sg_type_is_builtin(call->datatype);
}

int sg_packed_begin(const struct sg_call *call, bool gives, struct sg_packed *packed)
{
    int error = packed_of(call, malloc(call->bytes), true, packed);

    if (error == MPI_SUCCESS && gives)
        error = pack(packed, call->comm);
    if (error != MPI_SUCCESS)
        end(packed);
    return error;
}

void sg_packed_end(struct sg_packed *packed, bool takes)
{
    if (packed->bytes == NULL)
        return;
    /* Not the call's communicator, which may be freed by now. */
    if (takes)
        unpack(packed, MPI_COMM_SELF);
    end(packed);
}
