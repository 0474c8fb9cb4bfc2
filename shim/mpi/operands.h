/* Translates MPI arguments into operands of the algorithms: types and operations, reductions and
 * their buffers, users' operations, and the bytes of messages.
 *
 * Application's thread. Functions are pure look-ups except where they say that they call MPICH.
 */
#ifndef SG_MPI_OPERANDS_H
#define SG_MPI_OPERANDS_H

#include "algos/kernels/kernel.h"
#include "mpi/call.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- types and operations of MPI ----
 *
 * A look-up in constants, without a call to MPI. It knows the predefined handles of C, C++ and
 * Fortran that some predefined operation takes. It does not know derived types (including those of
 * MPI_Type_create_f90_*), users' operations, and handles of an MPICH whose types have other sizes.
 *
 * After initialisation: any thread, any signal handler. Outputs are written only if the result is
 * true.
 */

typedef int (*sg_reduce_local)(const void *in, void *inout, int count, MPI_Datatype datatype,
                               MPI_Op op);

/* Asks MPICH (PMPI_Reduce_local) how it compares unsigned integers: 4.0.2 treats them as signed in
 * MAX and MIN (its issue 6083), and results must be the same with and without stagger. Then
 * sg_type_of returns the signed element for such types. Also checks MPICH's products of complex
 * numbers: a type whose bits differ from the kernels' is no longer known. Call once, after MPI_Init
 * and before other threads; without it, unsigned types stay unsigned. */
void sg_types_init(sg_reduce_local reduce_local);

/* MPICH's handles of predefined types have this mark and contain the size; those of pairs
 * (MPI_DOUBLE_INT) do not. */
static inline bool sg_type_is_builtin(MPI_Datatype datatype)
{
    return ((unsigned)datatype & 0xfc000000u) == 0x4c000000u;
}
static inline uint64_t sg_type_builtin_bytes(MPI_Datatype datatype)
{
    return (unsigned)datatype >> 8 & 0xff;
}

bool sg_type_of(MPI_Datatype datatype, enum sg_element *out);
bool sg_reduction_of(MPI_Op op, enum sg_reduction *out);

/* ---- reductions and their buffers ---- */

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
