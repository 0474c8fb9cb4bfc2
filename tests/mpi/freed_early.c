/* Communicators that are freed after 1, 2, ... CALLS allreduces, so that each stage of the
 * library's periodic work is once the last. One more communicator for each number is left to
 * MPI_Finalize:
 *
 *     freed_early CALLS
 */
#include "mpi_test.h"

static int rank, ranks;

static void use(MPI_Comm comm, int calls)
{
    for (int i = 0; i < calls; i++) {
        int mine = i + rank, sum = -1;

        MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
        REQUIRE(sum == ranks * i + ranks * (ranks - 1) / 2);
    }
}

int main(int argc, char **argv)
{
    START(rank, ranks);
    int calls = argc > 1 ? atoi(argv[1]) : 0;
    REQUIRE(calls > 0);
    for (int i = 1; i <= 2 * calls; i++) {
        MPI_Comm comm;

        MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MUST(MPI_Barrier(comm)); /* sets it up */
        use(comm, (i + 1) / 2);
        if (i % 2 == 0)
            MUST(MPI_Comm_free(&comm));
    }
    if (rank == 0)
        printf("%d communicators\n", 2 * calls);
    MUST(MPI_Finalize());
    return EXIT_SUCCESS;
}
