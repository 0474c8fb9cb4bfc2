/* Makes N barriers, N reduces and N allreduces on MPI_COMM_WORLD: calls N [pcontrol]. With
 * "pcontrol" every rank calls MPI_Pcontrol(2) after the first half of the iterations, which
 * discards that half, and rank 0 alone calls MPI_Pcontrol(3) at the end: neither is collective.
 */
#include "mpi_test.h"

int main(int argc, char **argv)
{
    struct own_counts counts = {0};
    bool pcontrol = argc > 2 && strcmp(argv[2], "pcontrol") == 0;
    int rank, size, iterations = argc > 1 ? atoi(argv[1]) : 100;

    START(rank, size);
    for (int i = 0; i < iterations; i++) {
        double mine = i, sum = -1;

        if (pcontrol && i == iterations / 2)
            MUST(MPI_Pcontrol(2));
        COUNTED(counts.barrier, MPI_Barrier(MPI_COMM_WORLD));
        COUNTED(counts.reduce,
                MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, i % size, MPI_COMM_WORLD));
        REQUIRE(sum == (rank == i % size ? (double)i * size : -1));
        COUNTED(counts.allreduce,
                MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        REQUIRE(sum == (double)i * size);
    }
    if (pcontrol && rank == 0)
        MUST(MPI_Pcontrol(3));
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return 0;
}
