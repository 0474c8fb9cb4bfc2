/* The type of a kernel, and a table of kernels for each instruction set. A set's table omits
 * kernels that gain nothing from it (long double, scalar code); those come from the scalar
 * table. */
#ifndef SG_ALGOS_KERNELS_KERNEL_TABLE_H
#define SG_ALGOS_KERNELS_KERNEL_TABLE_H

#include "algos/kernels/element.h"

#include <stdbool.h>

/* out[i] = in[i] op inout[i]. out is in, inout, or disjoint from both; in and inout may be the
 * same. No alignment is required. Any thread, any signal handler. */
typedef void (*sg_kernel)(const void *in, const void *inout, void *out, size_t count);

enum sg_kernel_set {
    SG_KERNEL_PLAIN,  /* every processor of the architecture has it */
    SG_KERNEL_WIDE,   /* AVX2 */
    SG_KERNEL_WIDEST, /* AVX-512 */
    SG_KERNEL_SET_COUNT
};

struct sg_kernel_table {
    sg_kernel kernels[SG_REDUCTION_COUNT][SG_ELEMENT_COUNT];
};

extern const struct sg_kernel_table sg_kernel_table_plain;

extern const struct sg_kernel_table sg_kernel_table_scalar; /* complements every set */

extern const struct sg_kernel_table sg_kernel_table_wide;

extern const struct sg_kernel_table sg_kernel_table_widest;

#endif
