/* Makes N rounds of collectives, has rank 0 run a shell command, and makes N more rounds: between N
 * COMMAND RANK FREE. The command is optional, and its exit status is ignored. RANK can open only
 * FREE files in MPI_Finalize.
 */
#include "mpi_test.h"

#include <sys/resource.h>

static void starve(int free)
{
    int next = dup(0);
    struct rlimit limit;

    close(next);
    REQUIRE(next >= 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = (rlim_t)(next + free);
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

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
    if (argc > 4 && rank == atoi(argv[3]))
        starve(atoi(argv[4]));
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return 0;
}
