/* Vector kernels for wide vectors (AVX2). */
#include "core/cpu/cpu.h"
#ifdef SG_CPU_WIDE
#define TARGET SG_CPU_WIDE
#define PRODUCT_TARGET SG_CPU_WIDE_UNFUSED
#define TABLE sg_kernel_table_wide
#include "algos/kernels/vector.h"
#endif
