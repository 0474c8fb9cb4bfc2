/* Blocking exchanges with both neighbours in a row of ranks, each after MS milliseconds of
 * computation, as in SWEEP3D; then an allreduce:
 *
 *     exchanges MS STEPS
 */
#include "clock.h"
#include "mpi_test.h"

static void swap(int rank, int other, int value)
{
    int got;

    if (rank < other) {
        MUST(MPI_Send(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD));
        MUST(MPI_Recv(&got, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        MUST(MPI_Recv(&got, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MUST(MPI_Send(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD));
    }
    REQUIRE(got == value - rank + other);
}

int main(int argc, char **argv)
{
    int rank, ranks, steps, one = 1, all;

    START(rank, ranks);
    REQUIRE(argc == 3);
    double ms = atof(argv[1]);
    steps = atoi(argv[2]);
    for (int step = 0; step < steps; step++) {
        compute(ms);
        if (rank > 0)
            swap(rank, rank - 1, step + rank);
        if (rank + 1 < ranks)
            swap(rank, rank + 1, step + rank);
    }
    MUST(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REQUIRE(all == ranks);
    MUST(MPI_Finalize());
    return 0;
}
