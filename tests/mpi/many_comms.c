/* Makes, uses and frees the given number of communicators in succession, then uses MPI_COMM_WORLD.
 * On 2 ranks. Prints nothing.
 */
#include "mpi_test.h"

int main(int argc, char **argv)
{
    int rank, mine = 1, sum = 0, theirs;
    MPI_Comm comm;

    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    REQUIRE(argc == 2);
    for (int i = 0; i < atoi(argv[1]); i++) {
        MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
        REQUIRE(sum == 2);
        MUST(MPI_Sendrecv(&i, 1, MPI_INT, 1 - rank, 0, &theirs, 1, MPI_INT, 1 - rank, 0, comm,
                          MPI_STATUS_IGNORE));
        REQUIRE(theirs == i);
        MUST(MPI_Comm_free(&comm));
    }
    for (int i = 0; i < 10; i++)
        MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_Finalize());
    return 0;
}
