/* Finds kernels: the best instruction set that the processor and the system support. */
#include "algos/kernels/kernel.h"

static const struct sg_kernel_table *const tables[SG_KERNEL_SET_COUNT] = {
    [SG_KERNEL_PLAIN] = &sg_kernel_table_plain,
    [SG_KERNEL_AVX2] = &sg_kernel_table_avx2,
    [SG_KERNEL_AVX512] = &sg_kernel_table_avx512,
};

static enum sg_kernel_set chosen = SG_KERNEL_PLAIN;

bool sg_kernel_set_available(enum sg_kernel_set set)
{
    __builtin_cpu_init();
    switch (set) {
    case SG_KERNEL_AVX2:
        return __builtin_cpu_supports("avx2");
    case SG_KERNEL_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    default:
        return true;
    }
}

void sg_kernel_init(void)
{
    for (int set = SG_KERNEL_PLAIN; set < SG_KERNEL_SET_COUNT; set++)
        if (sg_kernel_set_available(set))
            chosen = set;
}

sg_kernel sg_kernel_find_in(enum sg_kernel_set set, enum sg_reduction reduction,
                            enum sg_element element)
{
    sg_kernel kernel = tables[set]->kernels[reduction][element];

    return kernel ? kernel : sg_kernel_table_scalar.kernels[reduction][element];
}

sg_kernel sg_kernel_find(enum sg_reduction reduction, enum sg_element element)
{
    return sg_kernel_find_in(chosen, reduction, element);
}
