/* The algorithms that a measurement may name, beside the rules in force: those between nodes.
 *
 * Which algorithm runs is the preloaded library's to choose, by rules, and rules may name a
 * communicator. So each algorithm has a communicator of its own, a duplicate of MPI_COMM_WORLD by
 * the name "stagger-bench/ALGORITHM", and before MPI_Init a rule for each is put in front of
 * STAGGER_RULES:
 *
 *     *~stagger-bench/tree=tree
 *
 * The rules in force are what MPI_COMM_WORLD gets. One more communicator is for barriers that have
 * to be the library's own, whatever the rules in force make of barriers. Free of MPI.
 */
#ifndef SG_BENCH_ALGORITHMS_H
#define SG_BENCH_ALGORITHMS_H

#include "core/operation.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Beside the indices of sg_algorithms. */
enum {
    SG_BENCH_RULES = -1,        /* whatever the rules in force choose */
    SG_BENCH_NO_ALGORITHM = -2, /* none of that name */
    SG_BENCH_GIVEN = -3         /* what the rules given to --vs choose (bench/given.h) */
};

#define SG_BENCH_ALGORITHMS_MAX 16
#define SG_BENCH_COMM_NAME_BYTES 64

/* One that may be asked for: "rules", or an algorithm between nodes. */
int sg_bench_algorithm_find(const char *word, size_t length);

/* "rules", "tree", "mpich"; the text of the rules given. Static storage. */
const char *sg_bench_algorithm_name(int algorithm);

bool sg_bench_algorithm_takes(int algorithm, enum sg_operation operation);

/* All that may be asked for, with commas between; static storage. */
const char *sg_bench_algorithm_list(void);

#define SG_BENCH_SETTLE_COMM_NAME "stagger-bench/settle"

void sg_bench_algorithm_comm_name(int algorithm, char name[SG_BENCH_COMM_NAME_BYTES]);

/* Before MPI_Init, on every rank: puts the rules into the environment. given are those for
 * SG_BENCH_GIVEN, which are kept and left out where they do not parse; NULL: none. SG_ERR_MEMORY
 * is logged. */
enum sg_status sg_bench_algorithms_announce(const char *given);

#endif
