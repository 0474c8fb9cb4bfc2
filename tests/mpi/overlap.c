/* Nonblocking collectives with work between post and completion, in amounts that the trace must
 * show. The last rank posts each allreduce only after rank 0, which has posted its own, has worked
 * and sent it a message: that work is hidden. Reduces are tested until they complete, and barriers
 * are outstanding two at a time.
 *
 * Prints one line with the posts of all ranks and the minimum hidden in allreduces:
 * {"calls":{"iallreduce":N,"ireduce":N,"ibarrier":N},"hidden_ns":N}.
 */
#include "mpi_test.h"

enum { ALLREDUCES = 10, REDUCES = 7, BARRIERS = 5, COUNT = 3, WORK_NS = 1000000 };

static int rank, last;

static void work(void)
{
    double end_s = MPI_Wtime() + WORK_NS * 1e-9;

    while (MPI_Wtime() < end_s) {
    }
}

/* The last rank goes on when rank 0 is here. */
static void let_last_go(int tag)
{
    int word = tag;

    if (last == 0)
        return;
    if (rank == 0)
        MUST(MPI_Send(&word, 1, MPI_INT, last, tag, MPI_COMM_WORLD));
    else if (rank == last)
        MUST(MPI_Recv(&word, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void hide(int round)
{
    double mine[COUNT], sum[COUNT];
    MPI_Request request;

    for (int i = 0; i < COUNT; i++)
        mine[i] = rank + i + round;
    if (rank == last)
        let_last_go(round);
    MUST(MPI_Iallreduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
    if (rank == 0)
        work();
    if (rank != last)
        let_last_go(round);
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < COUNT; i++)
        REQUIRE(sum[i] == (last + 1) * (i + round) + last * (last + 1) / 2);
}

static void ask(int round)
{
    int mine = rank + round, sum = -1, done = 0;
    MPI_Request request;

    MUST(MPI_Ireduce(&mine, &sum, 1, MPI_INT, MPI_SUM, last, MPI_COMM_WORLD, &request));
    while (!done)
        MUST(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    REQUIRE(sum == (rank == last ? (last + 1) * round + last * (last + 1) / 2 : -1));
}

/* Two at once, completed together. */
static void pair(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];

    for (int i = 0; i < 2; i++)
        MUST(MPI_Ibarrier(MPI_COMM_WORLD, &requests[i]));
    MUST(MPI_Waitall(2, requests, statuses));
}

int main(int argc, char **argv)
{
    START(rank, last);
    last--;
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    for (int round = 0; round < ALLREDUCES; round++)
        hide(round);
    for (int round = 0; round < REDUCES; round++)
        ask(round);
    for (int round = 0; round < BARRIERS; round++)
        pair();
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        printf("{\"calls\":{\"iallreduce\":%d,\"ireduce\":%d,\"ibarrier\":%d},\"hidden_ns\":%d}\n",
               ALLREDUCES * (last + 1), REDUCES * (last + 1), 2 * BARRIERS * (last + 1),
               ALLREDUCES * WORK_NS);
    MUST(MPI_Finalize());
    return 0;
}
