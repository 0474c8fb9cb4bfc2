/* The vector kernels for every processor of the architecture. */
#define TARGET
#define PRODUCT_TARGET __attribute__((target("no-fma,no-avx512f")))
#define TABLE sg_kernel_table_plain
#include "algos/kernels/vector.h"
