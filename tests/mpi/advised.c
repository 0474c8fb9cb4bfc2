/* A pattern that calls for advice. In each round all ranks enter a reduce to rank 0 at once, except
 * the last rank, which computes for MS milliseconds first:
 *
 *     advised MS ROUNDS
 *
 * In a binomial tree the rank between those two waits for data that it only passes on.
 */
#include "clock.h"
#include "mpi_test.h"

#include <sched.h>

/* Waits for a message of that rank's without keeping a processor that others need. */
static void hear(int from)
{
    int there = 0;

    while (!there) {
        MUST(MPI_Iprobe(from, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE));
        if (!there)
            sched_yield();
    }
    MUST(MPI_Recv(NULL, 0, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* A barrier that is none that is observed. */
static void line_up(int rank, int ranks)
{
    for (int other = 1; other < ranks; other++) {
        if (rank == 0)
            hear(other);
        else if (rank == other)
            MUST(MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD));
    }
    for (int other = 1; other < ranks; other++) {
        if (rank == 0)
            MUST(MPI_Send(NULL, 0, MPI_INT, other, 0, MPI_COMM_WORLD));
        else if (rank == other)
            hear(0);
    }
}

__attribute__((noinline)) static void sum_up(int value, int rank, int ranks)
{
    double mine = value + rank, sum = 0;

    MUST(MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
    REQUIRE(rank != 0 || sum == ranks * value + ranks * (ranks - 1) / 2);
}

int main(int argc, char **argv)
{
    int rank, ranks;

    REQUIRE(argc == 3);
    START(rank, ranks);
    for (int round = 0; round < atoi(argv[2]); round++) {
        line_up(rank, ranks);
        if (rank == ranks - 1)
            compute(atof(argv[1]));
        sum_up(round, rank, ranks);
    }
    MUST(MPI_Finalize());
    return 0;
}
