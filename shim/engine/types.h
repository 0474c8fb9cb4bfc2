/* From MPI's handles to the kernels' types and operations: a look-up in constants, without a call
 * into MPI. Known are the predefined handles of C, C++ and Fortran that some predefined operation
 * takes; a derived type (those of MPI_Type_create_f90_* included), a user's operation, or a handle
 * of an MPICH whose types have other sizes is not.
 *
 * Any thread, any signal handler. Outputs are written only where the result is true.
 */
#ifndef SG_ENGINE_TYPES_H
#define SG_ENGINE_TYPES_H

#include "algos/kernel.h"

#include <mpi.h>
#include <stdbool.h>

bool sg_type_of(MPI_Datatype datatype, enum sg_element *out);
bool sg_reduction_of(MPI_Op op, enum sg_reduction *out);

#endif
