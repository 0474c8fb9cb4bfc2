/* From an MPI call to operands: what of its arguments every algorithm of ours needs.
 *
 * Pure but for look-ups in tables; in the application's thread.
 */
#ifndef SG_MPI_OPERANDS_H
#define SG_MPI_OPERANDS_H

#include "algos/kernels/kernel.h"
#include "mpi/call.h"

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

/* True for operations that MPI predefines. */
bool sg_operation_is_predefined(MPI_Op op);

/* False: no such reduction, or one that MPICH alone can repeat. */
bool sg_operands_of(const struct sg_call *call, struct sg_operands *operands);

/* An allreduce with MPI_IN_PLACE, which MPI has all ranks pass or none. */
bool sg_call_is_in_place(const struct sg_call *call);

/* This rank's contribution and where its result goes (NULL: it gets none). False: an argument
 * error, which is MPICH's to report. */
bool sg_buffers_of(const struct sg_call *call, int rank, const void **own, void **result);

#endif
