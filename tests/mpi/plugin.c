/* The plugin of dlopen_main: a complete MPI program in a shared library. */
#include "mpi_test.h"

int plugin_run(int argc, char **argv);

__attribute__((visibility("default"))) int plugin_run(int argc, char **argv)
{
    struct own_counts counts = {0};
    int rank, size, mine = 3, sum = 0;
    MPI_Comm copy;

    START(rank, size);
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    for (int i = 0; i < 10; i++) {
        COUNTED(counts.barrier, MPI_Barrier(copy));
        COUNTED(counts.allreduce, MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, copy));
        REQUIRE(sum == 3 * size);
        COUNTED(counts.reduce, MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    }
    MUST(MPI_Comm_free(&copy));
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return 0;
}
