/* The limits of this machine, and the algorithms and collectives that a measurement may name.
 * Limits are the time to move a cache line between processors, below which no exchange between two
 * ranks can be; the speed at which the processors together copy memory; and the cost of passing
 * data from one processor to another. The model of a call is computed from them.
 *
 * Free of MPI. Measuring the limits starts threads for a while; the caller's binding is unchanged.
 */
#ifndef SG_BENCH_LIMITS_H
#define SG_BENCH_LIMITS_H

#include "core/status.h"
#include "core/text.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_bench_limits {
    double line_ns;  /* one way; NaN: fewer than two processors, or no binding possible */
    double copy_gbs; /* 10^9 bytes copied per second; NaN: no binding possible, or out of memory */
    /* Per byte: a copy into or out of memory that two processors share, and the addition of doubles
     * there to own ones; NaN: as line_ns. */
    double copy_ns, fold_ns;
};

/* Takes some tenths of a second; nothing else should run on the machine. processors: those that may
 * be used, at least one; the cache line moves between the first two. copiers: the most processors
 * that copy at once, at least 1. */
void sg_bench_limits_measure(const cpu_set_t *processors, int copiers, struct sg_bench_limits *out);

/* ---- algorithms: those between nodes, in addition to the rules in force
 *
 * The preloaded library chooses the algorithm by rules, and rules may name a communicator. So each
 * algorithm has a communicator of its own, a duplicate of MPI_COMM_WORLD with the name
 * "stagger-bench/ALGORITHM", and before MPI_Init a rule for each is put in front of STAGGER_RULES:
 *
 *     *~stagger-bench/tree=tree
 *
 * Calls on MPI_COMM_WORLD follow the rules in force. One more communicator serves barriers that
 * must be the library's own, whatever the rules in force choose for barriers.
 */

/* Values besides the indices of sg_algorithms. */
enum {
    SG_BENCH_RULES = -1,        /* the choice of the rules in force */
    SG_BENCH_NO_ALGORITHM = -2, /* no algorithm of that name */
    SG_BENCH_GIVEN = -3         /* the choice of the rules given to --vs */
};

#define SG_BENCH_ALGORITHMS_MAX 16
#define SG_BENCH_COMM_NAME_BYTES 64

/* Finds an algorithm that the user may name: "rules", or one between nodes. */
int sg_bench_algorithm_find(const char *word, size_t length);
/* Returns "rules", "tree", "mpich"; for SG_BENCH_GIVEN the text of the rules. Static storage. */
const char *sg_bench_algorithm_name(int algorithm);
/* Returns true if the algorithm has the collective, an index in sg_bench_collectives. A collective
 * that is always MPICH's has no other algorithm. */
bool sg_bench_algorithm_takes(int algorithm, int collective);
/* Lists the names that the user may give, separated by commas; static storage. */
const char *sg_bench_algorithm_list(void);

#define SG_BENCH_SETTLE_COMM_NAME "stagger-bench/settle"

void sg_bench_algorithm_comm_name(int algorithm, char name[SG_BENCH_COMM_NAME_BYTES]);
/* Puts the rules into the environment; before MPI_Init, on every rank. given: the rules for
 * SG_BENCH_GIVEN; the pointer is kept, and rules that do not parse are left out; NULL: none.
 * SG_ERR_MEMORY is logged. */
enum sg_status sg_bench_algorithms_announce(const char *given);

/* ---- collectives
 *
 * First the four that the library routes, numbered as in core/text.h; then others, which are always
 * MPICH's own. `bytes` of a row is one rank's operand in a reduction or broadcast; for the others
 * it is the block that a rank sends to, or receives from, each rank. Constant, thread-safe.
 */

enum {
    SG_BENCH_GATHER = SG_OPERATION_COUNT,
    SG_BENCH_SCATTER,
    SG_BENCH_ALLGATHER,
    SG_BENCH_ALLTOALL,
    SG_BENCH_REDUCE_SCATTER, /* MPI_Reduce_scatter_block */
    SG_BENCH_SCAN,
    SG_BENCH_COLLECTIVES
};

/* The names, separated by commas. */
#define SG_BENCH_COLLECTIVES_LIST                                                                  \
    "barrier, allreduce, reduce, bcast, gather, scatter, allgather, alltoall, reduce_scatter, "    \
    "scan"

struct sg_bench_collective {
    const char *name;
    const char *function; /* "PMPI_Gather"; "MPI_Gather" is the same text from its second letter */
    bool routed;          /* the library has algorithms for it */
    bool rooted;
    bool synchronises; /* no rank can leave before all have entered */
    /* The operand, or the result, of a rank has a block for each rank. */
    bool sends_blocks, receives_blocks;
};

extern const struct sg_bench_collective sg_bench_collectives[SG_BENCH_COLLECTIVES];

/* Returns the index of a name; -1: none. */
int sg_bench_collective_find(const char *name, size_t length);

/* ---- the model of a call on one machine
 *
 * Uses the formulas of the level inside a node (sim/network.h; paper 003's "future work"), with the
 * costs that the limits have. A pure function.
 */

/* Returns the time until the last rank leaves if all enter at once, in ns. NaN: one rank, a
 * collective without formulas, or an unknown cost. */
double sg_bench_model_ns(const struct sg_bench_limits *limits, int operation, int ranks,
                         uint64_t bytes);

/* ---- rules on the command line (--vs 'RULES')
 *
 * They apply on a communicator of their own, in addition to the rules in force: its name is
 * inserted into each. A call that none of them matches follows the rules in force.
 */

/* Returns the rules, each followed by ';' and bound to the communicator; malloc'ed. NULL: there are
 * none, one does not parse or names a communicator, or out of memory; logs nothing. */
char *sg_bench_given_bind(const char *text, const char *comm);
/* Returns true if the text can be bound; if not, logs one line that begins with source. */
bool sg_bench_given_check(const char *source, const char *text);
/* Returns the rules that a command line gives to --vs; NULL: none. Logs nothing, because rank 0
 * parses the options later. */
const char *sg_bench_given_find(int argc, char **argv);

#endif
