/* Arrivals in a known order, to be found in the trace:
 *
 *     arrival chain ROUNDS   every rank enters a reduce when the next one has left it; rank 0, the
 *                            root, is the last arrival
 *     arrival ahead FILE     the others run ahead of the root, which enters when there is a file of
 *                            that name: 12 reduces, more than a rank has slots by default
 */
#include "mpi_test.h"

#define AHEAD 12

static int rank, ranks;

static void reduce(int value)
{
    int mine = value + rank, sum = 0;

    MUST(MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    REQUIRE(rank != 0 || sum == ranks * value + ranks * (ranks - 1) / 2);
}

static void chain(int rounds)
{
    for (int round = 0; round < rounds; round++) {
        if (rank < ranks - 1)
            MUST(MPI_Recv(NULL, 0, MPI_INT, rank + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        reduce(round);
        if (rank > 0)
            MUST(MPI_Send(NULL, 0, MPI_INT, rank - 1, 0, MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 3);
    START(rank, ranks);
    if (strcmp(argv[1], "chain") == 0) {
        chain(atoi(argv[2]));
    } else {
        if (rank == 0)
            wait_for_file(argv[2]);
        for (int i = 0; i < AHEAD; i++)
            reduce(i);
    }
    MUST(MPI_Finalize());
    if (rank == 0)
        printf("finished\n");
    return 0;
}
