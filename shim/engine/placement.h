/* Which ranks share a node: those of one machine, or groups of STAGGER_RANKS_PER_NODE of them in
 * the order of their ranks (virtual nodes, for tests and for the papers' one process a node).
 */
#ifndef SG_ENGINE_PLACEMENT_H
#define SG_ENGINE_PLACEMENT_H

#include "core/exchange.h"

#include <stdint.h>

/* Collective over the exchange, in MPI_Init. ranks_per_node 0: all of a machine's. */
enum sg_status sg_placement_start(const struct sg_exchange *exchange, uint64_t machine,
                                  int ranks_per_node);

/* Number of a world rank's node, the same on all ranks. */
int sg_placement_node(int world_rank);

/* Likewise of its machine. */
int sg_placement_machine(int world_rank);

#endif
