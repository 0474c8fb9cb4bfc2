/* Translates MPI arguments into operands of the algorithms: reductions and their buffers, users'
 * operations, and the bytes of messages.
 *
 * Application's thread. Functions are pure look-ups except where they say that they call MPICH.
 */
#ifndef SG_MPI_OPERANDS_H
#define SG_MPI_OPERANDS_H

#include "algos/kernels/kernel.h"
#include "mpi/call.h"

#include <stddef.h>
#include <stdint.h>

/* A predefined operation on a predefined type. */
struct sg_operands {
    enum sg_reduction reduction;
    enum sg_element element;
    sg_kernel kernel;
    sg_copy copy; /* copies results; NULL: elements have no holes */
};

/* A fold (shim/intranode/fold.h) by a kernel, which is the context. */
void sg_operands_fold(void *kernel, const void *left, const void *right, void *out, size_t count);
void *sg_operands_fold_context(const struct sg_operands *operands);

/* A user-defined operation in a call under way. */
struct sg_user_fold {
    MPI_Op op;
    MPI_Datatype datatype;
    size_t extent_bytes;
    sg_copy copy;  /* NULL: elements have no holes */
    void *scratch; /* copy of a left operand that is also the output */
    size_t scratch_bytes;
    int error; /* first error of MPI_Reduce_local in this call */
};

/* A fold (shim/intranode/fold.h) by a user's operation; the context is its struct sg_user_fold.
 * Application threads only: it runs the user's function. */
void sg_user_fold(void *user, const void *left, const void *right, void *out, size_t count);
/* Returns the first error of the call under way, after the communicator's error handler has been
 * called. MPI_Reduce_local calls MPI_COMM_WORLD's. */
int sg_user_fold_error(const struct sg_user_fold *user, MPI_Comm comm);
/* True for handles of operations that a program made. Do not ask MPICH about other handles that are
 * not predefined: that would reach the wrong error handler. */
bool sg_operation_is_users(MPI_Op op);
/* For a user's operation. Calls MPICH. */
bool sg_operation_is_commutative(MPI_Op op);
/* True for operations that MPI predefines. */
bool sg_operation_is_predefined(MPI_Op op);
/* False: there is no such reduction, or only MPICH gives the same result. */
bool sg_operands_of(const struct sg_call *call, struct sg_operands *operands);
/* True for an allreduce with MPI_IN_PLACE, which MPI requires on all ranks or none. */
bool sg_call_is_in_place(const struct sg_call *call);
/* Finds this rank's contribution and result buffer (NULL: it gets none). False: an argument error,
 * for MPICH to report. */
bool sg_buffers_of(const struct sg_call *call, int rank, const void **own, void **result);

/* ---- data of a message as bytes ----
 *
 * Data of a predefined type stay in the application's buffer. MPICH packs and unpacks other types,
 * by a message of the process to itself. So a type with holes, MPI_BOTTOM and a type that has been
 * freed work as in MPICH. Application's thread.
 */

struct sg_bytes {
    void *at; /* the bytes */
    MPI_Count size_bytes;
    /* If the type is not predefined: the application's buffer, and a duplicate of its type. */
    bool is_converted;
    void *buffer;
    MPI_Count count;
    MPI_Datatype type;
};

/* Call before the others. own: a communicator of this process alone, for these messages only, with
 * MPI_ERRORS_RETURN. */
void sg_bytes_start(MPI_Comm own);
/* Takes valid arguments. gives: with the data; else with space for them. Returns an error class
 * without calling a handler; then there is nothing to end. */
int sg_bytes_begin(void *buffer, MPI_Count count, MPI_Datatype type, bool gives,
                   struct sg_bytes *bytes);
/* Stores received bytes in the buffer, from its start. If a message ends within an element, the
 * result is MPICH's: a type without holes gets all bytes. In another type the last part is lost,
 * *received is lowered to the whole elements, and the error is MPI_ERR_TRUNCATE. (It may end within
 * a pair such as MPI_DOUBLE_INT, where MPICH loses the pair.) */
int sg_bytes_put(const struct sg_bytes *bytes, uint32_t *received);
void sg_bytes_end(struct sg_bytes *bytes);

#endif
