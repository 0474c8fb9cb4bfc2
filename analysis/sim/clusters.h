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
#ifndef SG_SIM_CLUSTERS_H
#define SG_SIM_CLUSTERS_H

#include "core/status.h"
#include "core/text.h"
#include "sim/network.h"

#include <stdbool.h>
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

/* Small collectives in a node, as transfers of cache lines between the cores of a machine.
 *
 * A line that was written is fetched by others one after the other; the first in a cluster of cores
 * (those that share a last-level cache) brings it there. Who stores to a line that others poll
 * waits for the farthest of them to give it up. What a rank does by itself takes no time, but folds
 * do.
 *
 * Ranks are on cores in their order, a core's threads first filled when all cores have a rank. The
 * latencies of a machine are published (measured with one pair of cores at a time); how long a line
 * is busy with one reader, and how many a core fetches at once, is assumed.
 *
 * No I/O; any thread.
 */

struct sg_lines_machine {
    const char *name, *source;
    int sockets, clusters, cores, threads; /* clusters a socket, cores a cluster, threads a core */
    double thread_ns, cluster_ns, socket_ns, remote_ns; /* a line to another core, one way */
    double serve_ns;                                    /* a line is busy with a reader */
    double overlap; /* of lines that are there one after the other, so many come at once */
    double fold_ns; /* two small operands */
};

extern const struct sg_lines_machine sg_lines_machines[];

extern const char *const sg_lines_machine_names[]; /* ended by NULL */

int sg_lines_ranks_most(const struct sg_lines_machine *machine);
/* A line's way from one rank to another. */
double sg_lines_way_ns(const struct sg_lines_machine *machine, int from, int to);

enum sg_lines_shape {
    SG_LINES_FLAT,  /* everyone reads everyone's line */
    SG_LINES_CLIMB, /* the second at each meeting goes on; the last one's word lets all go */
    /* The first of each group reads the others, and tells them the result; so again among the first
     * ones, until one group exchanges flat. */
    SG_LINES_GROUPS,
    SG_LINES_ROUNDS, /* recursive doubling: a line for each round */
    SG_LINES_SHAPES
};

extern const char *const sg_lines_shape_names[SG_LINES_SHAPES + 1]; /* ended by NULL */

struct sg_lines_case {
    const struct sg_lines_machine *machine;
    enum sg_lines_shape shape;
    int ranks;
    int group; /* of groups: a power of two */
};

/* From the last rank's arrival to the last one's end, ns: when all come at once, and when the rank
 * that is worst for the shape comes alone long after the others. */
struct sg_lines_times {
    double at_once_ns, late_ns;
};

enum sg_status sg_lines_run(const struct sg_lines_case *one, struct sg_lines_times *out);

#endif
