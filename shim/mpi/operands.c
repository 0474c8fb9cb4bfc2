#include "mpi/operands.h"

#include "mpi/real.h"
#include "mpi/types.h"

#include <string.h>

/* MPICH's handles of predefined objects carry this mark. */
#define HANDLE_IS_BUILTIN(handle) (((unsigned)(handle)&0xc0000000u) == 0x40000000u)

/* MPICH's handles of operations that a program made carry this mark. */
#define HANDLE_IS_USERS(handle)                                                                    \
    (((unsigned)(handle)&0x80000000u) != 0 && ((unsigned)(handle)&0x3c000000u) == 0x18000000u)

bool sg_operation_is_users(MPI_Op op)
{
    return HANDLE_IS_USERS(op);
}

bool sg_operation_is_commutative(MPI_Op op)
{
    int commutes = 1;

    sg_real.Op_commutative(op, &commutes);
    return commutes != 0;
}

bool sg_operation_is_predefined(MPI_Op op)
{
    return HANDLE_IS_BUILTIN(op);
}

/* Pairs that MPI does not allow and MPICH neither refuses nor computes: each rank keeps what it
 * has, which only MPICH itself can repeat. */
static bool is_left_alone(enum sg_reduction reduction, enum sg_element element)
{
    return (element == SG_ELEMENT_REAL4 || element == SG_ELEMENT_REAL8) &&
           (reduction == SG_REDUCTION_LAND || reduction == SG_REDUCTION_LOR ||
            reduction == SG_REDUCTION_LXOR);
}

bool sg_operands_of(const struct sg_call *call, struct sg_operands *operands)
{
    if (!sg_type_of(call->datatype, &operands->element) ||
        !sg_reduction_of(call->op, &operands->reduction) ||
        is_left_alone(operands->reduction, operands->element))
        return false;
    operands->kernel = sg_kernel_find(operands->reduction, operands->element);
    operands->copy = sg_copy_find(operands->element);
    return operands->kernel != NULL;
}

void sg_operands_fold(void *kernel, const void *left, const void *right, void *out, size_t count)
{
    ((sg_kernel)(void (*)(void))kernel)(left, right, out, count);
}

void *sg_operands_fold_context(const struct sg_operands *operands)
{
    return (void *)(void (*)(void))operands->kernel;
}

static void copy_right(const struct sg_user_fold *user, void *to, const void *right, size_t count)
{
    if (user->copy != NULL)
        user->copy(to, right, count);
    else
        memcpy(to, right, count * user->extent_bytes);
}

/* A user's operation works in place: right becomes left (op) right. */
void sg_user_fold(void *context, const void *left, const void *right, void *out, size_t count)
{
    struct sg_user_fold *user = context;
    size_t room = out == left ? user->scratch_bytes / user->extent_bytes : count;

    for (size_t done = 0; done < count; done += room) {
        size_t piece = count - done < room ? count - done : room;
        size_t offset_bytes = done * user->extent_bytes;
        const char *from = (const char *)left + offset_bytes;
        char *to = (char *)out + offset_bytes;
        int error;

        if (out == left)
            from = memcpy(user->scratch, from, piece * user->extent_bytes);
        if (out != right)
            copy_right(user, to, (const char *)right + offset_bytes, piece);
        error = sg_real.Reduce_local(from, to, (int)piece, user->datatype, user->op);
        if (user->error == MPI_SUCCESS)
            user->error = error;
    }
}

int sg_user_fold_error(const struct sg_user_fold *user, MPI_Comm comm)
{
    if (user->error != MPI_SUCCESS && comm != MPI_COMM_WORLD)
        sg_real.Comm_call_errhandler(comm, user->error);
    return user->error;
}

bool sg_call_is_in_place(const struct sg_call *call)
{
    return call->operation == SG_OPERATION_ALLREDUCE && call->send == MPI_IN_PLACE;
}

bool sg_buffers_of(const struct sg_call *call, int rank, const void **own, void **result)
{
    bool receives = call->operation == SG_OPERATION_ALLREDUCE || rank == call->root;
    bool in_place = call->send == MPI_IN_PLACE;

    if (in_place && !receives)
        return false;
    if (receives &&
        (call->receive == NULL || call->receive == MPI_IN_PLACE || call->receive == call->send))
        return false;
    *own = in_place ? call->receive : call->send;
    *result = receives ? call->receive : NULL;
    return *own != NULL;
}
