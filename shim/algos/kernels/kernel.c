/* Looks up kernels, in the best instruction set that the processor and the system support. */
#include "algos/kernels/kernel.h"

#include "core/cpu/cpu.h"

static const struct sg_kernel_table *const tables[SG_KERNEL_SET_COUNT] = {
    [SG_KERNEL_PLAIN] = &sg_kernel_table_plain,
#ifdef SG_CPU_WIDE
    [SG_KERNEL_WIDE] = &sg_kernel_table_wide,
#endif
#ifdef SG_CPU_WIDEST
    [SG_KERNEL_WIDEST] = &sg_kernel_table_widest,
#endif
};

static enum sg_kernel_set chosen = SG_KERNEL_PLAIN;

bool sg_kernel_set_available(enum sg_kernel_set set)
{
    switch (set) {
    case SG_KERNEL_PLAIN:
        return true;
#ifdef SG_CPU_WIDE
    case SG_KERNEL_WIDE:
        return sg_cpu_has_wide();
#endif
#ifdef SG_CPU_WIDEST
    case SG_KERNEL_WIDEST:
        return sg_cpu_has_widest();
#endif
    default:
        return false;
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
    sg_kernel kernel;

    if (tables[set] == NULL)
        return NULL;
    kernel = tables[set]->kernels[reduction][element];
    return kernel ? kernel : sg_kernel_table_scalar.kernels[reduction][element];
}

sg_kernel sg_kernel_find(enum sg_reduction reduction, enum sg_element element)
{
    return sg_kernel_find_in(chosen, reduction, element);
}
