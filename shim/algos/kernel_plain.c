/* The vector kernels for every processor of the architecture. */
#define TARGET
#define TABLE sg_kernel_table_plain
#include "algos/kernel_vector.h"
