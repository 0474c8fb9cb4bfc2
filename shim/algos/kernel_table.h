/* What the kernel files share: one table of kernels for each instruction set. A set's table lacks
 * what gains nothing from it (x87 arithmetic, scalar code); those come from the plain table.
 */
#ifndef SG_ALGOS_KERNEL_TABLE_H
#define SG_ALGOS_KERNEL_TABLE_H

#include "algos/kernel.h"

#include <stdbool.h>

enum sg_kernel_set {
    SG_KERNEL_PLAIN, /* what every processor of the architecture has */
    SG_KERNEL_AVX2,
    SG_KERNEL_AVX512,
    SG_KERNEL_SET_COUNT
};

struct sg_kernel_table {
    sg_kernel kernels[SG_REDUCTION_COUNT][SG_ELEMENT_COUNT];
};

extern const struct sg_kernel_table sg_kernel_table_plain;
extern const struct sg_kernel_table sg_kernel_table_scalar; /* goes with every set */
extern const struct sg_kernel_table sg_kernel_table_avx2;
extern const struct sg_kernel_table sg_kernel_table_avx512;

bool sg_kernel_set_available(enum sg_kernel_set set);
sg_kernel sg_kernel_find_in(enum sg_kernel_set set, enum sg_reduction reduction,
                            enum sg_element element);

#endif
