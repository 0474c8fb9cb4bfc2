/* Which ranks share a node: those of one machine, or groups of STAGGER_RANKS_PER_NODE of them in
 * rank order (virtual nodes, for tests and for the papers' one process a node).
 */
#ifndef SG_INTRANODE_PLACEMENT_H
#define SG_INTRANODE_PLACEMENT_H

#include "core/exchange.h"

#include <stdint.h>

/* Collective over the exchange, in MPI_Init. machine: the same for ranks that can share memory;
 * containers on one machine count as several machines. ranks_per_node 0: all ranks of a machine. */
enum sg_status sg_placement_start(const struct sg_exchange *exchange, uint64_t machine,
                                  int ranks_per_node);

/* Number of a world rank's node, the same on all ranks. */
int sg_placement_node(int world_rank);

/* Likewise for its machine. */
int sg_placement_machine(int world_rank);

/* How many of the world's ranks are on a node. */
int sg_placement_node_size(int node, int world_size);

#endif
