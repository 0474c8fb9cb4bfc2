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
#ifndef SG_BENCH_ALGORITHMS_H
#define SG_BENCH_ALGORITHMS_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

/* In addition to the indices of sg_algorithms. */
enum {
    SG_BENCH_RULES = -1,        /* whatever the rules in force choose */
    SG_BENCH_NO_ALGORITHM = -2, /* none of that name */
    SG_BENCH_GIVEN = -3         /* what the rules given to --vs choose (bench/given.h) */
};

#define SG_BENCH_ALGORITHMS_MAX 16
#define SG_BENCH_COMM_NAME_BYTES 64

/* An algorithm that the user may name: "rules", or one between nodes. */
int sg_bench_algorithm_find(const char *word, size_t length);

/* "rules", "tree", "mpich"; for the rules given, their text. Static storage. */
const char *sg_bench_algorithm_name(int algorithm);

/* collective: of bench/collectives.h. Those that are always MPICH's have no other algorithm. */
bool sg_bench_algorithm_takes(int algorithm, int collective);

/* All that the user may name, separated by commas; static storage. */
const char *sg_bench_algorithm_list(void);

#define SG_BENCH_SETTLE_COMM_NAME "stagger-bench/settle"

void sg_bench_algorithm_comm_name(int algorithm, char name[SG_BENCH_COMM_NAME_BYTES]);

/* Before MPI_Init, on every rank: puts the rules into the environment. given: the rules for
 * SG_BENCH_GIVEN, which this keeps a pointer to, and leaves out if they do not parse; NULL: none.
 * SG_ERR_MEMORY is logged. */
enum sg_status sg_bench_algorithms_announce(const char *given);

#endif
