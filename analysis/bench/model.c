#include "bench/model.h"

#include "sim/model/node.h"

#include <math.h>

double sg_bench_model_ns(const struct sg_bench_limits *limits, int operation, int ranks,
                         uint64_t bytes)
{
    struct sg_network network = {.local_us = limits->line_ns * 1e-3,
                                 .copy_ns_per_byte = limits->copy_ns,
                                 .reduce_ns_per_byte = limits->fold_ns};

    if (ranks < 2 || operation >= SG_OPERATION_COUNT || isnan(limits->line_ns) ||
        isnan(limits->copy_ns) || isnan(limits->fold_ns))
        return NAN;
    return (double)sg_node_call_ns(&network, (uint32_t)ranks, (enum sg_operation)operation, bytes);
}
