/* Makes N rounds of collectives, has rank 0 run a shell command, and makes N more rounds: between N
 * COMMAND. The command is optional, and its exit status is ignored.
 */
#include "mpi_test.h"

static void go_round(int rounds, int size, struct own_counts *counts)
{
    for (int i = 0; i < rounds; i++) {
        int mine = i, sum;

        COUNTED(counts->barrier, MPI_Barrier(MPI_COMM_WORLD));
        COUNTED(counts->allreduce, MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        REQUIRE(sum == i * size);
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    struct own_counts counts = {0};
    int rank, size;

    START(rank, size);
    go_round(rounds, size, &counts);
    MUST(PMPI_Barrier(MPI_COMM_WORLD)); /* every rank has returned from its calls */
    if (rank == 0 && argc > 2) {
        unsetenv("LD_PRELOAD");
        if (system(argv[2]) < 0)
            perror("system");
    }
    go_round(rounds, size, &counts);
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return 0;
}
