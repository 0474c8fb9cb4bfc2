/* The vector kernels for AVX-512. */
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define TABLE sg_kernel_table_avx512
#include "algos/kernel_vector.h"
