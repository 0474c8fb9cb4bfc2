/* Vector kernels for every processor of the architecture. */
#include "core/cpu/cpu.h"
#define TARGET
#define PRODUCT_TARGET SG_CPU_UNFUSED
#define TABLE sg_kernel_table_plain
#include "algos/kernels/vector.h"
