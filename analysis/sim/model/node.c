#include "sim/model/node.h"

#include "algos/tree.h"

/* As in the built-in rules and the engine: docs/decisions/0005-thresholds.md. */
#define FLAT_RANKS_MAX 8
#define FLAT_BYTES_MAX 1024
#define CLIMB_BYTES_MAX 4096
#define SLOT_BYTES 4096

enum sg_node_level sg_node_level_of(uint32_t ranks, uint64_t bytes)
{
    if (bytes <= FLAT_BYTES_MAX && ranks <= FLAT_RANKS_MAX)
        return SG_NODE_LEVEL_FLAT;
    return bytes > CLIMB_BYTES_MAX ? SG_NODE_LEVEL_CHUNKS : SG_NODE_LEVEL_CLIMB;
}

static uint64_t rounded(double ns)
{
    return (uint64_t)(ns + 0.5);
}

static uint64_t step_ns(const struct sg_network *network)
{
    return sg_network_ns(network->local_us);
}

uint64_t sg_node_copy_ns(const struct sg_network *network, uint64_t bytes)
{
    return rounded((double)bytes * network->copy_ns_per_byte);
}

uint64_t sg_node_store_ns(const struct sg_network *network, uint64_t bytes)
{
    return step_ns(network) + sg_node_copy_ns(network, bytes);
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

uint64_t sg_node_climb_part_ns(const struct sg_network *network, uint32_t folds, bool store,
                               uint64_t bytes)
{
    double ns = (double)bytes * folds * network->reduce_ns_per_byte;

    if (store)
        ns += (double)bytes * network->copy_ns_per_byte;
    return (folds + 1) * step_ns(network) + rounded(ns);
}

uint64_t sg_node_fill_ns(const struct sg_network *network, uint64_t bytes)
{
    uint64_t slots = bytes > SLOT_BYTES ? (bytes + SLOT_BYTES - 1) / SLOT_BYTES : 1;

    return slots * step_ns(network) + sg_node_copy_ns(network, bytes);
}

uint64_t sg_node_fetch_ns(const struct sg_network *network, uint64_t bytes, bool late)
{
    return step_ns(network) +
           sg_node_copy_ns(network, late || bytes < SLOT_BYTES ? bytes : SLOT_BYTES);
}

uint64_t sg_node_read_ns(const struct sg_network *network, uint64_t bytes)
{
    return 2 * step_ns(network) + sg_node_copy_ns(network, bytes);
}

uint64_t sg_node_call_ns(const struct sg_network *network, uint32_t ranks,
                         enum sg_operation operation, uint64_t bytes)
{
    uint32_t folds = (uint32_t)sg_tree_levels((int32_t)ranks);

    if (operation == SG_OPERATION_BCAST)
        return bytes >= SG_NODE_SINGLE_BYTES
                   ? sg_node_read_ns(network, bytes)
                   : sg_node_fill_ns(network, bytes) + sg_node_fetch_ns(network, bytes, false);
    switch (sg_node_level_of(ranks, bytes)) {
    case SG_NODE_LEVEL_FLAT:
        return sg_node_flat_ns(network, ranks, bytes);
    case SG_NODE_LEVEL_CHUNKS:
        return sg_node_chunks_ns(network, ranks, bytes);
    default:
        /* The last to come climbs to the top; the others see the release and copy the result. */
        return sg_node_climb_part_ns(network, folds, false, bytes) +
               sg_node_copy_ns(network, bytes) + step_ns(network);
    }
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
        return flags_ns + sg_node_copy_ns(network, bytes);
    /* The root's part of a chunk is the longer one: the readers' is seen of the last. */
    return chunks * (flags_ns + sg_node_copy_ns(network, chunk)) + sg_node_copy_ns(network, chunk);
}

uint64_t sg_node_barrier_ns(const struct sg_network *network, uint32_t ranks)
{
    return UINT64_C(2) * (ranks - 1) * step_ns(network);
}
