/* All ranks but the last wait for a message from the last one, which is late:
 *
 *     late_sender MILLISECONDS [abort|kill]
 *
 * Barriers follow; then the first rank ends the program in the given way.
 */
#include "mpi_test.h"

#include <signal.h>

/* One call in some hundred brings the log up to date. */
#define BARRIERS 200

int main(int argc, char **argv)
{
    int rank, ranks;

    START(rank, ranks);
    REQUIRE(argc >= 2);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    double until_s = MPI_Wtime() + 1e-3 * atof(argv[1]);
    if (rank < ranks - 1) {
        MUST(MPI_Recv(NULL, 0, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        while (MPI_Wtime() < until_s)
            ;
        for (int to = 0; to < ranks - 1; to++)
            MUST(MPI_Send(NULL, 0, MPI_INT, to, 0, MPI_COMM_WORLD));
    }
    for (int i = 0; i < BARRIERS; i++)
        MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (argc > 2 && rank == 0) {
        if (strcmp(argv[2], "abort") == 0)
            MPI_Abort(MPI_COMM_WORLD, 4);
        raise(SIGKILL);
    }
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_Finalize());
    return 0;
}
