/* Makes only the three collectives, TIMES times each, with 8 bytes: three_calls TIMES. */
#include "mpi_test.h"

int main(int argc, char **argv)
{
    int times = argc > 1 ? atoi(argv[1]) : 1;
    double value = 1, sum;

    MPI_Init(&argc, &argv);
    for (int i = 0; i < times; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
