/* Ends abnormally after N rounds of collectives: ending MODE N. Rank 1 (rank 0 if it is alone)
 * calls MPI_Abort ("abort"), kills itself ("kill") or crashes ("crash"), or every rank leaves
 * without MPI_Finalize ("exit": by exit(5), "_exit": by _exit(5)); "none" ends normally.
 */
#include "mpi_test.h"

#include <signal.h>

int main(int argc, char **argv)
{
    struct own_counts counts = {0};
    const char *mode = argc > 1 ? argv[1] : "none";
    int rank, size, rounds = argc > 2 ? atoi(argv[2]) : 10;

    START(rank, size);
    for (int i = 0; i < rounds; i++) {
        int mine = i, sum;

        COUNTED(counts.barrier, MPI_Barrier(MPI_COMM_WORLD));
        COUNTED(counts.allreduce, MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        REQUIRE(sum == i * size);
    }
    print_counts(rank, &counts);
    MUST(PMPI_Barrier(MPI_COMM_WORLD)); /* every rank has returned from its calls */
    if (strcmp(mode, "exit") == 0)
        exit(5);
    if (strcmp(mode, "_exit") == 0)
        _exit(5);
    if (rank == (size > 1)) {
        if (strcmp(mode, "abort") == 0)
            MPI_Abort(MPI_COMM_WORLD, 7);
        if (strcmp(mode, "kill") == 0)
            raise(SIGKILL);
        if (strcmp(mode, "crash") == 0)
            *(volatile int *)NULL = 1;
    }
    if (strcmp(mode, "none") != 0) /* the others stand in a barrier that cannot complete */
        MPI_Barrier(MPI_COMM_WORLD);
    MUST(MPI_Finalize());
    return 0;
}
