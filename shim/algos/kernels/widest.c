/* Vector kernels for the widest vectors (AVX-512). */
#include "core/cpu/cpu.h"
#ifdef SG_CPU_WIDEST
#define TARGET SG_CPU_WIDEST
#define PRODUCT_TARGET SG_CPU_WIDE_UNFUSED
#define TABLE sg_kernel_table_widest
#include "algos/kernels/vector.h"
#endif
