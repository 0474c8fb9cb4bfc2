/* Maps MPI's handles to the kernels' types and operations: a look-up in constants, without a call
 * to MPI. It knows the predefined handles of C, C++ and Fortran that some predefined operation
 * takes. It does not know derived types (including those of MPI_Type_create_f90_*), users'
 * operations, and handles of an MPICH whose types have other sizes.
 *
 * After initialisation: any thread, any signal handler. Outputs are written only if the result is
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

#endif
