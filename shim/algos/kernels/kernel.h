/* Reduction kernels: one element-wise loop for every predefined (operation, type) pair.
 *
 * A kernel leaves in out[i] exactly the bits that MPICH's MPI_Reduce_local(in, inout) leaves in
 * inout[i]: integers wrap; MAX and MIN compare as the C expression does (NaN, zeros); C's complex
 * types multiply with recovery of infinities, Fortran's and C++'s without. Two things are not
 * promised: the payload of a NaN computed from two different NaNs, and the padding of a long
 * double. Bytes between and after the values of a pair keep their previous contents in out.
 *
 * Kernels call nothing, allocate nothing and have no state: a signal handler may run one. */
#ifndef SG_ALGOS_KERNELS_KERNEL_H
#define SG_ALGOS_KERNELS_KERNEL_H

#include "algos/kernels/kernel_table.h"

/* Chooses the instruction set. Call once, at start, before any other thread or handler looks up a
 * kernel; without it, kernels use the plain instruction set. */
void sg_kernel_init(void);

/* NULL: MPICH has no such reduction. */
sg_kernel sg_kernel_find(enum sg_reduction reduction, enum sg_element element);

/* For tests: whether this machine has an instruction set, and the kernels of that set; NULL also if
 * the architecture has no such set. */
bool sg_kernel_set_available(enum sg_kernel_set set);
sg_kernel sg_kernel_find_in(enum sg_kernel_set set, enum sg_reduction reduction,
                            enum sg_element element);

#endif
