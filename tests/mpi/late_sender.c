/* All ranks but the last wait for a message from the last one, which is late:
 *
 *     late_sender MILLISECONDS [yields|sleeps] [abort|kill]
 *
 * It is late by so much after all others have come, and until each of them has yielded or slept.
 * For abort and kill barriers follow; then the first rank ends the program in that way.
 */
#include "given.h"

#include <signal.h>

/* One call in some hundred brings the log up to date. */
#define BARRIERS 200
#define RANKS_MAX 64

static bool has(int argc, char **argv, const char *word)
{
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], word) == 0)
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    struct given *given;
    MPI_Win window;
    int rank, ranks;

    START(rank, ranks);
    REQUIRE(argc >= 2 && ranks <= RANKS_MAX);
    given = given_share(RANKS_MAX * sizeof *given, &window);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (rank < ranks - 1) {
        MUST(PMPI_Send(NULL, 0, MPI_INT, ranks - 1, 1, MPI_COMM_WORLD));
        given_own = &given[rank];
        MUST(MPI_Recv(NULL, 0, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        for (int from = 0; from < ranks - 1; from++)
            MUST(PMPI_Recv(NULL, 0, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (double until_s = MPI_Wtime() + 1e-3 * atof(argv[1]); MPI_Wtime() < until_s;)
            ;
        for (int of = 0; of < ranks - 1; of++) {
            while ((has(argc, argv, "yields") && given[of].yields == 0) ||
                   (has(argc, argv, "sleeps") && given[of].sleeps == 0))
                sched_yield();
        }
        for (int to = 0; to < ranks - 1; to++)
            MUST(MPI_Send(NULL, 0, MPI_INT, to, 0, MPI_COMM_WORLD));
    }
    for (int i = 0; i < BARRIERS && (has(argc, argv, "abort") || has(argc, argv, "kill")); i++)
        MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0 && has(argc, argv, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 4);
    if (rank == 0 && has(argc, argv, "kill"))
        raise(SIGKILL);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    given_end(&window);
    MUST(MPI_Finalize());
    return 0;
}
