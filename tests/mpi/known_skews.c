/* Collectives that MPICH carries out and in which one rank is late, on 3 ranks, for
 * tests/report/skews.sh. The late rank computes before each of the ROUNDS.
 */
#include "known.h"

#define ROUNDS 10
#define LATE_S 2e-3

static int value, values[3];
static MPI_Comm pair; /* of ranks 2 and 0, in this order */

/* Each other rank tells the late one that it is about to call. */
static void be_late(MPI_Comm comm, int late)
{
    int member, size;

    MPI_Comm_rank(comm, &member);
    MPI_Comm_size(comm, &size);
    if (member != late) {
        MPI_Send(NULL, 0, MPI_INT, late, 0, comm);
        return;
    }
    for (int i = 1; i < size; i++)
        MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE);
    double until_s = MPI_Wtime() + LATE_S;
    while (MPI_Wtime() < until_s)
        ;
}

SITE(scatter(void), MPI_Scatter(values, 1, MPI_INT, &value, 1, MPI_INT, 0, MPI_COMM_WORLD))
SITE(allgather(void), MPI_Allgather(&value, 1, MPI_INT, values, 1, MPI_INT, MPI_COMM_WORLD))

NOINLINE static void alltoall(void)
{
    int theirs[3];

    MPI_Alltoall(values, 1, MPI_INT, theirs, 1, MPI_INT, MPI_COMM_WORLD);
    STAY;
}

SITE(ibarrier(MPI_Request *request), MPI_Ibarrier(pair, request))
SITE(wait_for(MPI_Request *request), MPI_Wait(request, MPI_STATUS_IGNORE))

int main(int argc, char **argv)
{
    MPI_Request request;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 0, -rank, &pair);
    if (pair != MPI_COMM_NULL)
        MPI_Comm_set_name(pair, "pair");
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        be_late(MPI_COMM_WORLD, 2);
        scatter();
        be_late(MPI_COMM_WORLD, 1);
        allgather();
        be_late(MPI_COMM_WORLD, 0);
        alltoall();
        if (pair == MPI_COMM_NULL)
            continue;
        be_late(pair, 1);
        ibarrier(&request);
        wait_for(&request);
    }
    MPI_Finalize();
    return 0;
}
