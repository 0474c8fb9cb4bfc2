/* The same collectives on communicators within and across the virtual nodes that
 * STAGGER_RANKS_PER_NODE=2 makes of four ranks: (0 1) and (2 3). The functions' names tell the
 * script which is which.
 */
#include "mpi_test.h"

static struct own_counts counts;
static int rank, ranks;

static void within(MPI_Comm comm, int size)
{
    double mine = rank, sum = 0;

    COUNTED(counts.allreduce, MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm));
    REQUIRE(sum == (rank < 2 ? 1 : 5) && size == 2);
}

static void across(MPI_Comm comm, int size)
{
    double mine = size, sum = 0;

    for (int root = 0; root < size; root++)
        COUNTED(counts.reduce, MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, root, comm));
    REQUIRE(sum == size * size);
    COUNTED(counts.barrier, MPI_Barrier(comm));
}

int main(int argc, char **argv)
{
    MPI_Comm node, pair;

    START(rank, ranks);
    REQUIRE(ranks == 4);
    MUST(MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &node));
    MUST(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &pair));
    COUNTED(counts.barrier, MPI_Barrier(node)); /* the first call is MPICH's own */
    COUNTED(counts.barrier, MPI_Barrier(pair));
    for (int i = 0; i < 5; i++) {
        within(node, 2);
        across(pair, 2);
        across(MPI_COMM_WORLD, 4);
    }
    MUST(MPI_Comm_free(&node));
    MUST(MPI_Comm_free(&pair));
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return 0;
}
