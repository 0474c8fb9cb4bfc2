/* Shared by the C test programs: checks that end the program, and the program's own count of its
 * collectives, printed as one JSON line per rank for comparison with the archive's.
 *
 * A failed check ends the process with status 3 at once; the launcher then ends the other ranks.
 * The checks are macros, not functions, so that each call keeps its own call site.
 */
#ifndef SG_TESTS_MPI_TEST_H
#define SG_TESTS_MPI_TEST_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REQUIRE(condition) ((condition) ? (void)0 : require_failed(__FILE__, __LINE__, #condition))

__attribute__((noreturn, cold)) static inline void require_failed(const char *file, int line,
                                                                  const char *condition)
{
    fprintf(stderr, "%s:%d: not true: %s\n", file, line, condition);
    fflush(NULL);
    _exit(3);
}

#define MUST(call) REQUIRE((call) == MPI_SUCCESS)

/* Begins main(argc, argv), and gets the rank and the number of ranks. */
#define START(rank, ranks)                                                                         \
    (MUST(MPI_Init(&argc, &argv)), MUST(MPI_Comm_rank(MPI_COMM_WORLD, &(rank))),                   \
     MUST(MPI_Comm_size(MPI_COMM_WORLD, &(ranks))))

struct own_counts {
    long barrier, reduce, allreduce;
};

/* Makes a call and counts it: COUNTED(counts.barrier, MPI_Barrier(comm)). */
#define COUNTED(counter, call)                                                                     \
    do {                                                                                           \
        MUST(call);                                                                                \
        (counter)++;                                                                               \
    } while (0)

static inline void print_counts(int rank, const struct own_counts *counts)
{
    printf("{\"rank\":%d,\"barrier\":%ld,\"reduce\":%ld,\"allreduce\":%ld}\n", rank,
           counts->barrier, counts->reduce, counts->allreduce);
    fflush(stdout);
}

/* Bounded, so that no process stays behind if a script never creates the file. */
static inline void wait_for_file(const char *file)
{
    const struct timespec pause = {0, 10000000};

    for (int i = 0; access(file, F_OK) != 0; i++) {
        REQUIRE(i < 10000);
        nanosleep(&pause, NULL);
    }
}

#endif
