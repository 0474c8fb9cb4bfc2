/* The limits of this machine: the time to move a cache line from one processor to another, below
 * which no exchange between two ranks can be, and the speed at which its processors together copy
 * memory. Also what it takes to pass data from one processor to another.
 *
 * Free of MPI. Starts threads of its own for a while; the caller's binding stays as it is.
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
    double copy_gbs; /* 10^9 bytes copied a second; NaN: no binding possible, or no memory */
    /* A byte copied into or out of memory that two processors share, and a byte of doubles there
     * added to own ones; NaN: as line_ns. */
    double copy_ns, fold_ns;
};

/* Takes some tenths of a second; nothing else should run on the machine. processors: those that may
 * be used, at least one; the cache line moves between the first two. copiers: the most processors
 * that copy at once, at least 1. */
void sg_bench_limits_measure(const cpu_set_t *processors, int copiers, struct sg_bench_limits *out);

/* The algorithms that a measurement may name, in addition to the rules in force: those between
 * nodes.
 *
 * The preloaded library chooses which algorithm runs, by rules, and rules may name a communicator.
 * So each algorithm has a communicator of its own, a duplicate of MPI_COMM_WORLD with the name
 * "stagger-bench/ALGORITHM", and before MPI_Init a rule for each is put in front of STAGGER_RULES:
 *
 *     *~stagger-bench/tree=tree
 *
 * Calls on MPI_COMM_WORLD follow the rules in force. One more communicator is for barriers that
 * must be the library's own, whatever the rules in force choose for barriers. Free of MPI.
 */

/* In addition to the indices of sg_algorithms. */
enum {
    SG_BENCH_RULES = -1,        /* whatever the rules in force choose */
    SG_BENCH_NO_ALGORITHM = -2, /* none of that name */
    SG_BENCH_GIVEN = -3         /* what the rules given to --vs choose (bench/limits.h) */
};

#define SG_BENCH_ALGORITHMS_MAX 16
#define SG_BENCH_COMM_NAME_BYTES 64

/* An algorithm that the user may name: "rules", or one between nodes. */
int sg_bench_algorithm_find(const char *word, size_t length);
/* "rules", "tree", "mpich"; for the rules given, their text. Static storage. */
const char *sg_bench_algorithm_name(int algorithm);
/* collective: of bench/limits.h. Those that are always MPICH's have no other algorithm. */
bool sg_bench_algorithm_takes(int algorithm, int collective);
/* All that the user may name, separated by commas; static storage. */
const char *sg_bench_algorithm_list(void);

#define SG_BENCH_SETTLE_COMM_NAME "stagger-bench/settle"

void sg_bench_algorithm_comm_name(int algorithm, char name[SG_BENCH_COMM_NAME_BYTES]);
/* Before MPI_Init, on every rank: puts the rules into the environment. given: the rules for
 * SG_BENCH_GIVEN, which this keeps a pointer to, and leaves out if they do not parse; NULL: none.
 * SG_ERR_MEMORY is logged. */
enum sg_status sg_bench_algorithms_announce(const char *given);

/* The collectives that are measured: the four that the library routes, by their numbers in
 * core/text.h, and others that are always MPICH's own, behind them.
 *
 * `bytes` of a row is what one rank gives to a reduction or broadcast, and for the others the block
 * that a rank sends to, or receives from, each rank. Free of MPI; constant, thread-safe.
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

/* All names, separated by commas. */
#define SG_BENCH_COLLECTIVES_LIST                                                                  \
    "barrier, allreduce, reduce, bcast, gather, scatter, allgather, alltoall, reduce_scatter, "    \
    "scan"

struct sg_bench_collective {
    const char *name;
    const char *function; /* "PMPI_Gather"; "MPI_Gather" is the same text from its second letter */
    bool routed;          /* the library has algorithms for it */
    bool rooted;
    bool synchronises; /* no rank can leave before all have come */
    /* A rank's operand, or its result, has a block for each rank. */
    bool sends_blocks, receives_blocks;
};

extern const struct sg_bench_collective sg_bench_collectives[SG_BENCH_COLLECTIVES];

/* The number of a name; -1: none. */
int sg_bench_collective_find(const char *name, size_t length);

/* What a call on one machine should take by the formulas of the level inside a node
 * (sim/network.h; paper 003's "future work"), with the costs that the limits have. Free of MPI;
 * a pure function.
 */

/* All ranks enter at once; until the last leaves, in ns. NaN: one rank, a collective without
 * formulas, or a cost that is not known. */
double sg_bench_model_ns(const struct sg_bench_limits *limits, int operation, int ranks,
                         uint64_t bytes);

/* Rules as text on the command line (--vs 'RULES'). They apply on a communicator of their own, in
 * addition to the rules in force: the communicator's name is inserted into each. A call that none
 * of them matches follows the rules in force. Free of MPI.
 */

/* The text's rules, each followed by ';' and bound to the communicator of that name; malloc'ed.
 * NULL if there are none, if one does not parse or names a communicator, or when out of memory;
 * logs nothing. */
char *sg_bench_given_bind(const char *text, const char *comm);
/* Whether the text can be bound; if not, logs one line that begins with source. */
bool sg_bench_given_check(const char *source, const char *text);
/* The rules that a command line gives to --vs; NULL if it gives none. Logs nothing: rank 0 parses
 * the options later. */
const char *sg_bench_given_find(int argc, char **argv);

#endif
