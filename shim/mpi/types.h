/* From MPI's handles to the kernels' types and operations: a look-up in constants, without a call
 * into MPI. Known are the predefined handles of C, C++ and Fortran that some predefined operation
 * takes; a derived type (those of MPI_Type_create_f90_* included), a user's operation, or a handle
 * of an MPICH whose types have other sizes is not.
 *
 * Once initialised: any thread, any signal handler. Outputs are written only where the result is
 * true.
 */
#ifndef SG_MPI_TYPES_H
#define SG_MPI_TYPES_H

#include "algos/kernels/kernel.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

typedef int (*sg_reduce_local)(const void *in, void *inout, int count, MPI_Datatype datatype,
                               MPI_Op op);

/* Asks MPICH (PMPI_Reduce_local) how it compares unsigned integers: 4.0.2 takes them for signed
 * ones in MAX and MIN (its issue 6083), and results are to be the same with and without us. After
 * that, sg_type_of gives the signed element for such types. And whether its products of complex
 * numbers have the kernels' bits: types of which they have not are no longer known. To be called
 * once, after MPI_Init and before other threads; without it, unsigned types are what they are
 * called. */
void sg_types_init(sg_reduce_local reduce_local);

/* MPICH's handles of predefined types carry this mark, and the size; those of pairs
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

#endif
