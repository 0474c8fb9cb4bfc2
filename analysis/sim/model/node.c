#include "sim/model/node.h"

#include "algos/tree.h"

static uint64_t rounded(double ns)
{
    return (uint64_t)(ns + 0.5);
}

static uint64_t step_ns(const struct sg_network *network)
{
    return sg_network_ns(network->local_us);
}

static uint64_t copy_ns(const struct sg_network *network, uint64_t bytes)
{
    return rounded((double)bytes * network->copy_ns_per_byte);
}

uint64_t sg_node_store_ns(const struct sg_network *network, uint64_t bytes)
{
    return step_ns(network) + copy_ns(network, bytes);
}

uint64_t sg_node_flat_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes)
{
    return sg_node_store_ns(network, bytes) + step_ns(network) +
           rounded((double)bytes * (ranks - 1) * network->reduce_ns_per_byte);
}

uint64_t sg_node_chunks_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes)
{
    double share = (double)bytes / ranks;
    double copies = 2 * ((double)bytes - share) * network->copy_ns_per_byte;
    double folds = share * (ranks - 1) * network->reduce_ns_per_byte;

    return 3 * step_ns(network) + rounded(copies + folds);
}

uint64_t sg_node_climb_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes)
{
    uint64_t fold_ns = rounded((double)bytes * network->reduce_ns_per_byte);

    if (ranks == 1)
        return 0;
    return sg_node_store_ns(network, bytes) +
           (uint64_t)sg_tree_levels((int32_t)ranks) * (2 * step_ns(network) + fold_ns) -
           step_ns(network);
}

uint64_t sg_node_broadcast_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes,
                              uint64_t chunk_bytes, bool placed)
{
    uint64_t chunk = bytes < chunk_bytes ? bytes : chunk_bytes;
    uint64_t chunks = chunk > 0 ? (bytes + chunk - 1) / chunk : 1;
    uint64_t flags_ns = (ranks - 1) * step_ns(network);

    if (ranks == 1)
        return 0;
    if (placed)
        return flags_ns + copy_ns(network, bytes);
    /* The root's part of a chunk is the longer one: the readers' is seen of the last. */
    return chunks * (flags_ns + copy_ns(network, chunk)) + copy_ns(network, chunk);
}

uint64_t sg_node_barrier_ns(const struct sg_network *network, uint32_t ranks)
{
    return UINT64_C(2) * (ranks - 1) * step_ns(network);
}
