/* MPI_Finalize with outstanding reductions: every rank calls its reduces and goes on to
 * MPI_Finalize, one rank after another, in the given order.
 *
 *     internode_finalize REDUCES RANK...
 *
 * A rank's turn comes when the previous one is about to call MPI_Finalize. The root, rank 0, must
 * not be the first, as it waits for the others. Outstanding work of a rank that has entered
 * MPI_Finalize must still be handled.
 */
#include "mpi_test.h"

static int rank, ranks;

static void reduce(int number)
{
    int mine = number + rank, sum = 0;

    MUST(MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    REQUIRE(rank != 0 || sum == ranks * number + ranks * (ranks - 1) / 2);
}

int main(int argc, char **argv)
{
    START(rank, ranks);
    REQUIRE(argc == 2 + ranks);
    int reduces = atoi(argv[1]);
    MUST(MPI_Barrier(MPI_COMM_WORLD)); /* the first is MPICH's own */
    for (int i = 2; i < argc; i++) {
        if (atoi(argv[i]) != rank)
            continue;
        if (i > 2)
            MUST(MPI_Recv(NULL, 0, MPI_INT, atoi(argv[i - 1]), 0, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
        for (int number = 0; number < reduces; number++)
            reduce(number);
        if (i + 1 < argc)
            MUST(MPI_Send(NULL, 0, MPI_INT, atoi(argv[i + 1]), 0, MPI_COMM_WORLD));
    }
    MUST(MPI_Finalize());
    printf("rank %d finished\n", rank);
    return 0;
}
