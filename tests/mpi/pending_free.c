/* MPI_Comm_free with operations pending: MPICH's own (Ibcast) and reductions, with blocking
 * collectives on other communicators in between. The operations are then completed. All ranks but
 * the root have freed the communicator before the root begins. With an argument: only reductions.
 */
#include "mpi_test.h"

static int rank, size;
static bool reductions_alone;

static void use_world(void)
{
    int mine = 1, sum = 0;

    MUST(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REQUIRE(sum == size);
}

static void begin(MPI_Comm *comm, MPI_Request *requests, int *value, int *mine, int *sum)
{
    requests[0] = MPI_REQUEST_NULL;
    if (reductions_alone)
        *value = *mine;
    else
        MUST(MPI_Ibcast(value, 1, MPI_INT, 0, *comm, &requests[0]));
    MUST(MPI_Iallreduce(mine, sum, 1, MPI_INT, MPI_SUM, *comm, &requests[1]));
    MUST(MPI_Comm_free(comm));
}

int main(int argc, char **argv)
{
    START(rank, size);
    reductions_alone = argc > 1;
    for (int i = 0; i < 20; i++) {
        int value = rank == 0 ? i : -1, mine = i, sum = -1, word = 0;
        MPI_Request requests[2];
        MPI_Status statuses[2];
        MPI_Comm comm;

        MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MUST(MPI_Barrier(comm));
        if (rank == 0) {
            for (int other = 1; other < size; other++)
                MUST(MPI_Recv(&word, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            begin(&comm, requests, &value, &mine, &sum);
        } else {
            begin(&comm, requests, &value, &mine, &sum);
            MUST(MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
        }
        if (i % 2)
            use_world();
        MUST(MPI_Waitall(2, requests, statuses));
        REQUIRE(value == i && sum == i * size);
        use_world();
    }
    MUST(MPI_Finalize());
    printf("rank %d ok\n", rank);
    return 0;
}
