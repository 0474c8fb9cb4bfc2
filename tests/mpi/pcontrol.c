/* MPI_Pcontrol is local: rank 0 alone switches recording off and on again, so that some instances
 * lack one member. Counts the calls that every rank recorded, the only ones that an archive may
 * hold.
 */
#include "mpi_test.h"

int main(int argc, char **argv)
{
    struct own_counts counts = {0};
    MPI_Comm fresh;
    int rank;

    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    for (int i = 0; i < 10; i++)
        COUNTED(counts.barrier, MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        MUST(MPI_Pcontrol(0));
    for (int i = 0; i < 7; i++)
        MUST(MPI_Barrier(MPI_COMM_WORLD));
    /* what a first collective sets up is set up whether or not it is recorded */
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &fresh));
    MUST(MPI_Barrier(fresh));
    if (rank == 0)
        MUST(MPI_Pcontrol(1));
    COUNTED(counts.barrier, MPI_Barrier(fresh));
    MUST(MPI_Comm_free(&fresh));
    for (int i = 0; i < 5; i++)
        COUNTED(counts.barrier, MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return 0;
}
