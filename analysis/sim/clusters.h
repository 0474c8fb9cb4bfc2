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
 * The second part models small collectives in a node as cache-line transfers. */
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
    uint32_t nodes, ranks; /* ranks per node */
};

double sg_cluster_ns(const struct sg_cluster *cluster, enum sg_cluster_library library,
                     enum sg_operation operation, uint64_t bytes);
/* Eager limit of IBM's library: from 4096 bytes for up to 16 tasks down to 128 for more than
 * 256. */
uint64_t sg_cluster_eager_bytes(uint32_t tasks);

/* Small collectives in a node, as transfers of cache lines between the cores of a machine.
 *
 * Readers fetch a written line one after another; the first in a cluster of cores (cores that share
 * a last-level cache) brings it into that cache. A store to a polled line takes effect once the
 * farthest poller has given the line up. Local work takes no time, except folds.
 *
 * Ranks are placed on cores in rank order; a core's second thread is used only when all cores have
 * a rank. A machine's latencies are published (measured with one pair of cores at a time); the time
 * a line is busy with one reader, and the number of lines a core fetches at once, are assumed. */

struct sg_lines_machine {
    const char *name, *source;
    /* clusters per socket, cores per cluster, threads per core */
    int sockets, clusters, cores, threads;
    /* one-way latency of a line to another core */
    double thread_ns, cluster_ns, socket_ns, remote_ns;
    double serve_ns; /* time a line is busy with one reader */
    double overlap;  /* number of consecutive ready lines that a core fetches at once */
    double fold_ns;  /* to fold two small operands */
};

extern const struct sg_lines_machine sg_lines_machines[];

extern const char *const sg_lines_machine_names[]; /* NULL-terminated */

int sg_lines_ranks_most(const struct sg_lines_machine *machine);
/* Latency of a line from one rank to another. */
double sg_lines_way_ns(const struct sg_lines_machine *machine, int from, int to);

enum sg_lines_shape {
    SG_LINES_FLAT,  /* every rank reads every rank's line */
    SG_LINES_CLIMB, /* the second rank at each meeting goes on; the last one releases all others */
    /* The first of each group reads the others' lines and publishes the result to them. The first
     * ranks repeat this among themselves, until a single group exchanges flat. */
    SG_LINES_GROUPS,
    SG_LINES_ROUNDS, /* recursive doubling: one line per round */
    SG_LINES_SHAPES
};

extern const char *const sg_lines_shape_names[SG_LINES_SHAPES + 1]; /* NULL-terminated */

struct sg_lines_case {
    const struct sg_lines_machine *machine;
    enum sg_lines_shape shape;
    int ranks;
    int group; /* group size of SG_LINES_GROUPS: a power of two */
};

/* Time from the last rank's arrival to the last rank's end, ns: when all arrive at once, and when
 * the rank that is worst for the shape arrives alone, long after the others. */
struct sg_lines_times {
    double at_once_ns, late_ns;
};

enum sg_status sg_lines_run(const struct sg_lines_case *one, struct sg_lines_times *out);

#endif
