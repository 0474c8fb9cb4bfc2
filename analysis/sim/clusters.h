/* Analytic models of collectives on clusters of many-way nodes. All are pure functions without I/O,
 * usable from any thread; times in ns.
 *
 * The first part covers paper 003's "future work": collectives on such clusters. All ranks call at
 * once; the result is the time until the last leaves. srm uses the node level of sim/network.h and,
 * between the first ranks of the nodes, binomial trees or, for small allreduces and barriers,
 * recursive doubling (section 2.4). The message-passing libraries send messages along the same
 * trees, inside nodes through shared memory; each message costs both overheads, and one over the
 * eager limit needs a rendezvous. IBM's limits are published (Parallel Environment,
 * MP_EAGER_LIMIT). MPICH is modelled as the same layer with half an overhead and one copy more,
 * both assumed.
 *
 * The second part has the machines for the model of cache lines. */
#ifndef SG_SIM_CLUSTERS_H
#define SG_SIM_CLUSTERS_H

#include "algos/lines.h"
#include "core/text.h"
#include "sim/network.h"

#include <stdbool.h>
#include <stdint.h>

enum sg_cluster_library { SG_CLUSTER_SRM, SG_CLUSTER_IBM, SG_CLUSTER_MPICH };

struct sg_cluster {
    const struct sg_network *network;
    uint32_t nodes, ranks; /* ranks per node */
};

double sg_cluster_ns(const struct sg_cluster *cluster, enum sg_cluster_library library,
                     enum sg_operation operation, uint64_t bytes);
/* Eager limit of IBM's library: from 4096 bytes for up to 16 tasks down to 128 for more than
 * 256. */
uint64_t sg_cluster_eager_bytes(uint32_t tasks);

/* Machines for the model of cache lines among a node's ranks (algos/lines.h). A core's second
 * thread has a rank only when all cores have one. */

struct sg_lines_machine {
    const char *name, *source;
    /* NUMA nodes per socket; clusters per node; cores per cluster; threads per core */
    int sockets, nodes, clusters, cores, threads;
    const struct sg_lines_costs *costs;
};

extern const struct sg_lines_machine sg_lines_machines[];
extern const char *const sg_lines_machine_names[];                  /* NULL-terminated */
extern const char *const sg_lines_shape_names[SG_LINES_SHAPES + 1]; /* NULL-terminated */

/* An order in which ranks are on cores. */
enum sg_lines_order {
    SG_LINES_IN_ORDER,
    SG_LINES_DEALT, /* each rank is on the idlest socket, node, cluster and core, as unbound ones */
};
extern const char *const sg_lines_order_names[]; /* NULL-terminated */

/* Splits each socket into NUMA nodes. False: its clusters or cores do not divide evenly. */
bool sg_lines_split(struct sg_lines_machine *machine, int nodes);
int sg_lines_ranks_most(const struct sg_lines_machine *machine);
/* places: by rank, below sg_lines_ranks_most. */
void sg_lines_place(const struct sg_lines_machine *machine, enum sg_lines_order order, int ranks,
                    struct sg_place *places);

#endif
