/* An intercommunicator between rank 0 and the others. Its collectives pass through and are not
 * counted; those on intracommunicators split from it are.
 */
#include "mpi_test.h"

int main(int argc, char **argv)
{
    struct own_counts counts = {0};
    MPI_Comm side, between, merged;
    int rank, size, group, mine, sum = 0, root;

    START(rank, size);
    REQUIRE(size > 1);
    group = rank != 0;
    MUST(MPI_Comm_split(MPI_COMM_WORLD, group, rank, &side));
    MUST(MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, group ? 0 : 1, 17, &between));

    mine = group ? 1 : 100;
    MUST(MPI_Barrier(between));
    MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, between));
    REQUIRE(sum == (group ? 100 : size - 1));
    root = group ? 0 : MPI_ROOT;
    sum = 0;
    MUST(MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, root, between));
    REQUIRE(group || sum == size - 1);
    sum = group ? 0 : 7;
    MUST(MPI_Bcast(&sum, 1, MPI_INT, root, between));
    REQUIRE(sum == 7);

    MUST(MPI_Intercomm_merge(between, group, &merged));
    COUNTED(counts.allreduce, MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, merged));
    REQUIRE(sum == 100 + size - 1);
    COUNTED(counts.barrier, MPI_Barrier(side));
    MUST(MPI_Comm_free(&merged));
    MUST(MPI_Comm_free(&between));
    MUST(MPI_Comm_free(&side));
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return 0;
}
