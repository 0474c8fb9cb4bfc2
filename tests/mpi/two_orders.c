/* Makes barriers alternately on MPI_COMM_WORLD and on a communicator with its ranks in reverse
 * order:
 *
 *     two_orders ROUNDS
 */
#include "mpi_test.h"

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20, rank;
    MPI_Comm reversed;

    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed));
    MUST(MPI_Comm_set_name(reversed, "reversed"));
    for (int round = 0; round < rounds; round++) {
        MUST(MPI_Barrier(MPI_COMM_WORLD));
        MUST(MPI_Barrier(reversed));
    }
    MUST(MPI_Comm_free(&reversed));
    MUST(MPI_Finalize());
    return 0;
}
