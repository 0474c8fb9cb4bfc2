/* From an MPI call to operands, kernel and shape, or to MPICH.
 *
 * What every rank decides alike: the operation and its type (derived types and pairs that MPI does
 * not allow go to MPICH), count 0. What is this rank's own are argument errors; MPICH then reports
 * them and no other rank is any wiser, as without stagger.
 */
#include "algos/kernel.h"
#include "engine/local.h"
#include "engine/local_internal.h"
#include "engine/real.h"
#include "engine/types.h"

#include <string.h>

/* Up to here stock MPICH reduces by a binomial tree. */
#define BINOMIAL_BYTES_MAX 2048

/* MPICH's handles of predefined objects carry this mark. */
#define HANDLE_IS_BUILTIN(handle) (((unsigned)(handle)&0xc0000000u) == 0x40000000u)
/* ... and those of operations that a program made, this one. Others are no operations: asking MPICH
 * about them would reach the wrong error handler. */
#define IS_USER_OPERATION(handle)                                                                  \
    (((unsigned)(handle)&0x80000000u) != 0 && ((unsigned)(handle)&0x3c000000u) == 0x18000000u)

static void fold_kernel(void *context, const void *left, const void *right, void *out, size_t count)
{
    sg_kernel kernel = (sg_kernel)(void (*)(void))context;

    kernel(left, right, out, count);
}

/* An operation of the user's works in place: right becomes left (op) right. */
static void fold_user(void *context, const void *left, const void *right, void *out, size_t count)
{
    struct sg_user_fold *user = context;
    size_t room = out == left ? user->scratch_bytes / user->extent_bytes : count;

    for (size_t done = 0; done < count; done += room) {
        size_t piece = count - done < room ? count - done : room;
        size_t offset_bytes = done * user->extent_bytes;
        const char *from = (const char *)left + offset_bytes;
        char *to = (char *)out + offset_bytes;

        if (out == left)
            from = memcpy(user->scratch, from, piece * user->extent_bytes);
        if (out != right)
            memcpy(to, (const char *)right + offset_bytes, piece * user->extent_bytes);
        sg_real.Reduce_local(from, to, (int)piece, user->datatype, user->op);
    }
}

/* The shape by which stock MPICH 4.0.2 would fold (shim/algos/shape.h). */
static struct sg_shape shape_of(const struct sg_call *call, int ranks, bool predefined)
{
    struct sg_shape doubling = {SG_SHAPE_DOUBLING, ranks, 0};
    struct sg_shape binomial = {SG_SHAPE_BINOMIAL, ranks, call->root};
    int commutes = 1;

    if (call->operation != SG_OPERATION_REDUCE)
        return doubling;
    if (predefined)
        return call->bytes > BINOMIAL_BYTES_MAX ? doubling : binomial;
    sg_real.Op_commutative(call->op, &commutes);
    if (call->bytes > BINOMIAL_BYTES_MAX || !commutes)
        binomial.root = 0;
    return binomial;
}

/* Buffers of this rank. False: an argument error. */
static bool take_buffers(const struct sg_call *call, int rank, struct sg_local_plan *plan)
{
    bool receives = call->operation == SG_OPERATION_ALLREDUCE || rank == call->root;
    bool in_place = call->send == MPI_IN_PLACE;

    if (in_place && !receives)
        return false;
    if (receives &&
        (call->receive == NULL || call->receive == MPI_IN_PLACE || call->receive == call->send))
        return false;
    plan->own = in_place ? call->receive : call->send;
    plan->result = receives ? call->receive : NULL;
    return plan->own != NULL;
}

/* Pairs that MPI does not allow and MPICH neither refuses nor computes: each rank keeps what it
 * has, which only MPICH itself can repeat. */
static bool is_left_alone(enum sg_reduction reduction, enum sg_element element)
{
    return (element == SG_ELEMENT_REAL4 || element == SG_ELEMENT_REAL8) &&
           (reduction == SG_REDUCTION_LAND || reduction == SG_REDUCTION_LOR ||
            reduction == SG_REDUCTION_LXOR);
}

bool sg_local_plan(struct sg_local *local, const struct sg_call *call, struct sg_local_plan *plan)
{
    const struct sg_node *node = sg_local_node(local);
    struct sg_user_fold *user = sg_local_user_fold(local);
    enum sg_reduction reduction;
    enum sg_element element;
    bool predefined = HANDLE_IS_BUILTIN(call->op);

    memset(plan, 0, sizeof *plan);
    if (call->operation == SG_OPERATION_BARRIER) {
        plan->shape = shape_of(call, node->ranks, true);
        return true;
    }
    if (call->count <= 0 || (!predefined && !IS_USER_OPERATION(call->op)) ||
        !sg_type_of(call->datatype, &element))
        return false;
    if (call->operation == SG_OPERATION_REDUCE && (call->root < 0 || call->root >= node->ranks))
        return false;
    plan->element_bytes = sg_element_extent_bytes(element);
    plan->size_bytes = (size_t)call->count * plan->element_bytes;
    if (predefined) {
        sg_kernel kernel = NULL;

        if (sg_reduction_of(call->op, &reduction) && !is_left_alone(reduction, element))
            kernel = sg_kernel_find(reduction, element);
        if (kernel == NULL)
            return false;
        plan->fold = fold_kernel;
        plan->fold_context = (void *)(void (*)(void))kernel;
    } else {
        user->op = call->op;
        user->datatype = call->datatype;
        user->extent_bytes = plan->element_bytes;
        plan->fold = fold_user;
        plan->fold_context = user;
    }
    plan->shape = shape_of(call, node->ranks, predefined);
    return take_buffers(call, node->rank, plan);
}
