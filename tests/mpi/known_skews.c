/* Collectives that MPICH carries out and in which one rank is late, on 3 ranks, for
 * tests/report/test_known_skews.py. In each of the ROUNDS the late rank computes until the others
 * are about to call, and for LATE_S.
 */
#include "known.h"

#define ROUNDS 10

static int value, values[3];
static MPI_Comm pair; /* of ranks 2 and 0, in this order */

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

    known_init(&argc, &argv, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 0, -rank, &pair);
    if (pair != MPI_COMM_NULL)
        MPI_Comm_set_name(pair, "pair");
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        hold_back(2);
        scatter();
        hold_back(1);
        allgather();
        hold_back(0);
        alltoall();
        if (pair == MPI_COMM_NULL)
            continue;
        rank == 0 ? be_late(1) : tell(0);
        ibarrier(&request);
        wait_for(&request);
    }
    known_finalize();
    return 0;
}
