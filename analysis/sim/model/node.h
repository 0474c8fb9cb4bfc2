/* The node level (paper 003, section 2.2, and shim/intranode) in formulas: what a call takes from
 * the time at which all ranks of a node have come, or a part of it. Timed runs, and by them stagger
 * advise, have the ways of shim/intranode; the model of paper 003 (model/cluster.h) has its own.
 *
 * Memory is the network's local_us (a step: one rank sees what another has written) and its copies
 * and reductions for each byte; simultaneous copies do not slow each other. Times in ns. Pure
 * functions.
 */
#ifndef SG_SIM_MODEL_NODE_H
#define SG_SIM_MODEL_NODE_H

#include "core/operation.h"
#include "sim/timed/network.h"

#include <stdbool.h>
#include <stdint.h>

/* How ranks of a node combine. */
enum sg_node_level {
    SG_NODE_LEVEL_AUTO, /* as the library does */
    SG_NODE_LEVEL_CLIMB,
    SG_NODE_LEVEL_FLAT,
    SG_NODE_LEVEL_CHUNKS
};

/* srm's in a node, by size. */
enum sg_node_level sg_node_level_of(uint32_t ranks, uint64_t bytes);

/* From so many bytes on a node's broadcasts are read straight from the root's buffer. */
#define SG_NODE_SINGLE_BYTES (UINT64_C(64) << 10)

uint64_t sg_node_copy_ns(const struct sg_network *network, uint64_t bytes);

/* An operand written where others see it. */
uint64_t sg_node_store_ns(const struct sg_network *network, uint64_t bytes);

/* flat: each rank stores its operand and folds all of them. */
uint64_t sg_node_flat_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes);

/* chunks: each rank stores its operand, folds its share of all and fetches the others': three
 * counts that it waits for. */
uint64_t sg_node_chunks_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes);

/* handoff: the part of one rank, which folds this often, or stores its operand. */
uint64_t sg_node_climb_part_ns(const struct sg_network *network, uint32_t folds, bool store,
                               uint64_t bytes);

/* A broadcast through slots: the root's part; and that of a rank which comes after it (late), or
 * has followed it slot by slot. */
uint64_t sg_node_fill_ns(const struct sg_network *network, uint64_t bytes);
uint64_t sg_node_fetch_ns(const struct sg_network *network, uint64_t bytes, bool late);

/* A broadcast read from the root's buffer, until all know that all have it. */
uint64_t sg_node_read_ns(const struct sg_network *network, uint64_t bytes);

/* A call that all ranks of a node enter at once, as srm carries it out there: until the last
 * leaves. */
uint64_t sg_node_call_ns(const struct sg_network *network, uint32_t ranks,
                         enum sg_operation operation, uint64_t bytes);

/* The paper's climb: a binomial tree, whose leaves store their operands. On each level a rank sees
 * its child's flag, folds what the child has, without a copy, and resets the flag. */
uint64_t sg_node_climb_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes);

/* Broadcast through two buffers with a READY flag for each reader, in chunks: the root fills one
 * while readers copy the other out. placed: the data is in the buffer already, in one chunk. */
uint64_t sg_node_broadcast_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes,
                              uint64_t chunk_bytes, bool placed);

/* Barrier: one rank waits for a flag of each other and then resets each. */
uint64_t sg_node_barrier_ns(const struct sg_network *network, uint32_t ranks);

#endif
