/* Collectives that 2 ranks start or complete in opposite orders, for
 * tests/report/test_known_skews.py. Each has its own operation and call site. Prints nothing.
 */
#include "known.h"

#define ROUNDS 5

static int rank, value, values[2], theirs[2];

SITE(ibcast(MPI_Request *request), MUST(MPI_Ibcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD, request)))
SITE(iallgather(MPI_Request *request),
     MUST(MPI_Iallgather(&value, 1, MPI_INT, values, 1, MPI_INT, MPI_COMM_WORLD, request)))

/* Only their order tells collectives of one kind apart. */
SITE(another(MPI_Request *request),
     MUST(MPI_Ibcast(&theirs[0], 1, MPI_INT, 0, MPI_COMM_WORLD, request)))
SITE(start_gather(MPI_Request *request), MUST(MPI_Start(request)))
SITE(start_alltoall(MPI_Request *request), MUST(MPI_Start(request)))

static void complete(MPI_Request *requests)
{
    for (int i = 0; i < 2; i++)
        MUST(MPI_Wait(&requests[rank == 0 ? i : 1 - i], MPI_STATUS_IGNORE));
}

static void nonblocking(void)
{
    MPI_Request requests[2];

    ibcast(&requests[0]);
    iallgather(&requests[1]);
    complete(requests);
    another(&requests[0]);
    ibcast(&requests[1]);
    complete(requests);
}

static void start(MPI_Request *requests)
{
    if (rank == 0)
        start_gather(&requests[0]);
    start_alltoall(&requests[1]);
    if (rank == 1)
        start_gather(&requests[0]);
}

int main(int argc, char **argv)
{
    MPI_Request requests[2];

    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    for (int i = 0; i < ROUNDS; i++)
        nonblocking();
    /* One that is made while recording is off has its number, too. */
    MUST(MPI_Pcontrol(0));
    MUST(MPI_Gather_init(&rank, 1, MPI_INT, values, 1, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &requests[0]));
    MUST(MPI_Pcontrol(1));
    MUST(MPI_Alltoall_init(values, 1, MPI_INT, theirs, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &requests[1]));
    for (int i = 0; i < ROUNDS; i++) {
        /* Rank 1 alone leaves out the second, which then is nobody's. */
        if (rank == 1)
            MUST(MPI_Pcontrol(i != 1));
        start(requests);
        complete(requests);
        nonblocking();
    }
    MUST(MPI_Request_free(&requests[0]));
    MUST(MPI_Request_free(&requests[1]));
    MUST(MPI_Finalize());
    return 0;
}
