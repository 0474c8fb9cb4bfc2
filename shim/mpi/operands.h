/* From an MPI call to operands: what of its arguments every algorithm of ours needs.
 *
 * Pure but for look-ups in tables; in the application's thread.
 */
#ifndef SG_MPI_OPERANDS_H
#define SG_MPI_OPERANDS_H

#include "algos/kernels/kernel.h"
#include "mpi/call.h"

#include <stddef.h>
#include <stdint.h>

/* A call of a predefined operation on a predefined type. */
struct sg_operands {
    enum sg_reduction reduction;
    enum sg_element element;
    sg_kernel kernel;
    sg_copy copy; /* of results; NULL: elements have no holes */
};

/* A fold of shim/intranode/fold.h by a kernel, which is the context. */
void sg_operands_fold(void *kernel, const void *left, const void *right, void *out, size_t count);
void *sg_operands_fold_context(const struct sg_operands *operands);

/* A user-defined operation, under way. */
struct sg_user_fold {
    MPI_Op op;
    MPI_Datatype datatype;
    size_t extent_bytes;
    sg_copy copy;  /* NULL: elements have no holes */
    void *scratch; /* for a left operand that is also where the result goes */
    size_t scratch_bytes;
    int error; /* the first error that MPI_Reduce_local returned in the call under way */
};

/* A fold of shim/intranode/fold.h by a user's operation, whose struct sg_user_fold is the context.
 * In a thread of the application only: runs the user's function. */
void sg_user_fold(void *user, const void *left, const void *right, void *out, size_t count);
/* What the call under way returns: its first error, for which the communicator's error handler has
 * been called. MPI_Reduce_local calls that of MPI_COMM_WORLD. */
int sg_user_fold_error(const struct sg_user_fold *user, MPI_Comm comm);
/* True for handles of operations that a program made. Others that are not predefined are none:
 * asking MPICH about them would reach the wrong error handler. */
bool sg_operation_is_users(MPI_Op op);
/* Of a user's operation. Calls MPICH. */
bool sg_operation_is_commutative(MPI_Op op);
/* True for operations that MPI predefines. */
bool sg_operation_is_predefined(MPI_Op op);
/* False: no such reduction, or one that MPICH alone can repeat. */
bool sg_operands_of(const struct sg_call *call, struct sg_operands *operands);
/* An allreduce with MPI_IN_PLACE, which MPI has all ranks pass or none. */
bool sg_call_is_in_place(const struct sg_call *call);
/* This rank's contribution and where its result goes (NULL: it gets none). False: an argument
 * error, which is MPICH's to report. */
bool sg_buffers_of(const struct sg_call *call, int rank, const void **own, void **result);

/* The data of a message as bytes. Those of a predefined type lie in the application's buffer;
 * others MPICH packs and unpacks, by a message of the process to itself: so a type with holes,
 * MPI_BOTTOM and a type that has been freed are as ever.
 *
 * In the application's thread.
 */

struct sg_bytes {
    void *at; /* the bytes */
    MPI_Count size_bytes;
    /* Of a type that is not predefined: the application's, and a duplicate of its type. */
    bool is_converted;
    void *buffer;
    MPI_Count count;
    MPI_Datatype type;
};

/* First of all. own: a communicator of this process alone, for these messages only, whose errors
 * return. */
void sg_bytes_start(MPI_Comm own);
/* Of valid arguments. gives: with the data; else with room for them. Returns an error class,
 * without calling a handler; then there is nothing to end. */
int sg_bytes_begin(void *buffer, MPI_Count count, MPI_Datatype type, bool gives,
                   struct sg_bytes *bytes);
/* Puts the bytes that have come, from the first on, where they belong. A message that ends within
 * an element is as MPICH's: whole in a type without holes; in another its last part is lost,
 * *received is lowered to the whole elements, and the error is MPI_ERR_TRUNCATE. (Within a pair as
 * MPI_DOUBLE_INT it may end, where MPICH loses the pair.) */
int sg_bytes_put(const struct sg_bytes *bytes, uint32_t *received);
void sg_bytes_end(struct sg_bytes *bytes);

#endif
