/* The vector kernels for AVX2. */
#define TARGET __attribute__((target("avx2")))
#define PRODUCT_TARGET __attribute__((target("avx2,no-fma,no-avx512f")))
#define TABLE sg_kernel_table_avx2
#include "algos/kernels/vector.h"
