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

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    int rank, ranks;

    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    REQUIRE(argc >= 2);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    double until_s = now_s() + 1e-3 * atof(argv[1]);
    if (rank < ranks - 1) {
        MUST(MPI_Recv(NULL, 0, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        while (now_s() < until_s)
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
