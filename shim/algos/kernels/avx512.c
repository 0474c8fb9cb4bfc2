/* The vector kernels for AVX-512. */
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define PRODUCT_TARGET __attribute__((target("avx2,no-fma,no-avx512f")))
#define TABLE sg_kernel_table_avx512
#include "algos/kernels/vector.h"
