/* Paper 003's collectives on clusters of many-way nodes, in formulas: its "future work". All ranks
 * call at once; the result is the time until the last leaves.
 *
 * srm has the node level of model/node.h and puts between the nodes' first ranks, in binomial trees
 * or, for small allreduces and barriers, by recursive doubling (section 2.4). The others send
 * messages in the same trees, inside nodes through shared memory, each message with both overheads:
 * a message over the eager limit asks first. Limits of IBM's are published (Parallel Environment,
 * MP_EAGER_LIMIT). MPICH's is the same layer with half an overhead more, and one more copy, both
 * assumed.
 *
 * Pure functions; times in ns.
 */
#ifndef SG_SIM_MODEL_CLUSTER_H
#define SG_SIM_MODEL_CLUSTER_H

#include "core/operation.h"
#include "sim/timed/network.h"

#include <stdint.h>

enum sg_cluster_library { SG_CLUSTER_SRM, SG_CLUSTER_IBM, SG_CLUSTER_MPICH };

struct sg_cluster {
    const struct sg_network *network;
    uint32_t nodes, ranks; /* ranks of a node */
};

double sg_cluster_ns(const struct sg_cluster *cluster, enum sg_cluster_library library,
                     enum sg_operation operation, uint64_t bytes);

/* Between 4096 bytes of up to 16 tasks and 128 of more than 256. */
uint64_t sg_cluster_eager_bytes(uint32_t tasks);

#endif
