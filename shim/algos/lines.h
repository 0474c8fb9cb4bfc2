/* Small collectives in a node, as transfers of cache lines between cores, and the choice of a shape
 * by this model (docs/decisions/03). The library chooses and the simulator prints with this code.
 *
 * Readers fetch a written line one after another; the first in a cluster of cores (cores that share
 * a last-level cache) brings it into that cache. A store to a polled line takes effect once the
 * farthest poller has given the line up. Local work takes no time, except folds. Operands beyond
 * SG_LINES_CARRIED bytes take further lines, which a reader fetches after the first.
 *
 * Pure functions; the caller lends the memory. Any thread; not for signal handlers, by their
 * duration: milliseconds at 256 ranks. */
#ifndef SG_ALGOS_LINES_H
#define SG_ALGOS_LINES_H

#include "algos/tree.h"
#include "core/topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One-way latencies of a line to another core, and times at a core, ns. */
struct sg_lines_costs {
    double thread_ns;  /* to the core's other thread */
    double cluster_ns; /* within a cluster */
    double socket_ns;  /* to another cluster */
    double numa_ns;    /* to another NUMA node of the socket */
    double remote_ns;  /* to another socket */
    double serve_ns;   /* time a line is busy with one reader */
    double overlap;    /* number of consecutive ready lines that a core fetches at once */
    double fold_ns;    /* to fold a line */
};

/* Costs of sockets with several clusters, and with one. */
extern const struct sg_lines_costs sg_lines_clustered, sg_lines_meshed;

/* Returns the costs for a machine, by the clusters of its sockets. */
const struct sg_lines_costs *sg_lines_costs_of(const struct sg_place *places, int ranks);
double sg_lines_way_ns(const struct sg_lines_costs *costs, const struct sg_place *from,
                       const struct sg_place *to);

enum sg_lines_shape {
    SG_LINES_FLAT,   /* every rank reads every rank's line */
    SG_LINES_CLIMB,  /* the second rank at each meeting goes on; the last one releases all others */
    SG_LINES_GROUPS, /* a nest (algos/tree.h): the first rank of each group reads its members' lines
                      * and publishes the result to them; those of the last level exchange flat */
    SG_LINES_ROUNDS, /* recursive doubling: one line per round */
    SG_LINES_SHAPES
};

struct sg_lines_case {
    const struct sg_lines_costs *costs;
    const struct sg_place *places; /* by rank */
    int ranks;                     /* 2 to SG_LINES_RANKS_MAX */
    enum sg_lines_shape shape;
    struct sg_nest_sizes sizes; /* of SG_LINES_GROUPS */
    uint32_t bytes;             /* of an operand */
};

#define SG_LINES_RANKS_MAX 1024
#define SG_LINES_CARRIED 48 /* bytes beside a line's sequence number */

/* Time from the last rank's arrival to the last rank's end, ns: when all arrive at once, and when
 * the rank that is worst for the shape arrives alone, long after the others. */
struct sg_lines_times {
    double at_once_ns, late_ns;
};

/* Bytes of memory for the functions below; aligned for any type. */
size_t sg_lines_bytes(const struct sg_place *places, int ranks);
struct sg_lines_times sg_lines_run(const struct sg_lines_case *one, void *memory);

/* ---- the choice ---- */

/* Up to this number of ranks the exchange is flat. */
#define SG_LINES_FLAT_RANKS 8
/* Largest operand for which the model is asked. */
#define SG_LINES_BYTES_MAX 4096

struct sg_lines_choice {
    struct sg_nest_sizes sizes; /* fastest groups */
    uint32_t bytes;             /* groups are faster than the climb up to this operand; 0: never */
    double groups_ns, climb_ns; /* after the last arrival, with an operand of 8 bytes */
};

/* Compares the climb with groups of all sizes, when one rank is late. Groups have to be faster by
 * the machine's costs, and not slower if a core fetches one line at a time: how many it fetches at
 * once is assumed. ranks: more than SG_LINES_FLAT_RANKS. */
void sg_lines_choose(const struct sg_place *places, int ranks, void *memory,
                     struct sg_lines_choice *out);
/* Sizes of groups in the order in which the choice tries them: the i-th for that number of ranks.
 * False: there are no more. */
bool sg_lines_sizes(int ranks, int i, struct sg_nest_sizes *out);

#endif
