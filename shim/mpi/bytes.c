#include "mpi/bytes.h"

#include "mpi/real.h"
#include "mpi/types.h"

#include <limits.h>
#include <stdlib.h>

static MPI_Comm self;

void sg_bytes_start(MPI_Comm own)
{
    self = own;
}

static int move(const void *from, MPI_Count from_count, MPI_Datatype from_type, void *into,
                MPI_Count into_count, MPI_Datatype into_type)
{
    if (sg_real.Sendrecv_c != NULL)
        return sg_real.Sendrecv_c(from, from_count, from_type, 0, 0, into, into_count, into_type, 0,
                                  0, self, MPI_STATUS_IGNORE);
    if (from_count > INT_MAX || into_count > INT_MAX)
        return MPI_ERR_COUNT;
    return sg_real.Sendrecv(from, (int)from_count, from_type, 0, 0, into, (int)into_count,
                            into_type, 0, 0, self, MPI_STATUS_IGNORE);
}

static int convert(bool gives, struct sg_bytes *bytes)
{
    MPI_Datatype type = bytes->type;
    int error = sg_real.Type_dup(type, &bytes->type);

    if (error != MPI_SUCCESS)
        return error;
    bytes->is_converted = true;
    bytes->at = malloc((size_t)bytes->size_bytes + 1);
    if (bytes->at == NULL)
        error = MPI_ERR_NO_MEM;
    else if (gives)
        error =
            move(bytes->buffer, bytes->count, bytes->type, bytes->at, bytes->size_bytes, MPI_BYTE);
    if (error != MPI_SUCCESS)
        sg_bytes_end(bytes);
    return error;
}

int sg_bytes_begin(void *buffer, MPI_Count count, MPI_Datatype type, bool gives,
                   struct sg_bytes *bytes)
{
    MPI_Count size = 0;
    int error;

    *bytes = (struct sg_bytes){.at = buffer, .buffer = buffer, .count = count, .type = type};
    if (count == 0)
        return MPI_SUCCESS;
    error = sg_real.Type_size_x(type, &size);
    if (error != MPI_SUCCESS)
        return error;
    bytes->size_bytes = count * size;
    return sg_type_is_builtin(type) ? MPI_SUCCESS : convert(gives, bytes);
}

int sg_bytes_put(const struct sg_bytes *bytes, MPI_Count received)
{
    return bytes->is_converted
               ? move(bytes->at, received, MPI_BYTE, bytes->buffer, bytes->count, bytes->type)
               : MPI_SUCCESS;
}

void sg_bytes_end(struct sg_bytes *bytes)
{
    if (!bytes->is_converted)
        return;
    sg_real.Type_free(&bytes->type);
    free(bytes->at);
    bytes->is_converted = false;
}
