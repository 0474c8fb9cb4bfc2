/* Hangs as its argument says, after some calls; ranks from 2 on are in an MPI_Allreduce then.
 *
 * outside   rank 1 stays outside MPI after an MPI_Send to rank 0
 * receive   rank 1 is in an MPI_Recv from rank 0
 * cycle     ranks 0 and 1 receive from each other
 * first     all but rank 1 are in the first call on a communicator of its own
 * poll      rank 1 calls MPI_Iprobe in a loop
 * finalize  rank 0 is in MPI_Finalize, rank 1 receives from it
 * abort     rank 1 calls MPI_Abort
 * kill      rank 1 kills itself, with SIGKILL
 * crash     ... with SIGSEGV
 * leave     rank 1 calls exit
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static int rank;

APART static void reduce_all(MPI_Comm comm)
{
    double mine = rank, sum;

    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
}

APART static void receive_from(int peer)
{
    int value;

    MPI_Recv(&value, 1, MPI_INT, peer, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

APART static void send_to(int peer)
{
    int value = 0;

    MPI_Send(&value, 1, MPI_INT, peer, 5, MPI_COMM_WORLD);
}

APART static void poll_for(int peer)
{
    int flag = 0;

    while (!flag)
        MPI_Iprobe(peer, 78, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void hang_at_1(const char *how)
{
    if (strcmp(how, "outside") == 0) {
        send_to(0);
        for (;;)
            pause();
    }
    if (strcmp(how, "poll") == 0)
        poll_for(0);
    if (strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "crash") == 0)
        raise(SIGSEGV);
    if (strcmp(how, "leave") == 0)
        exit(3);
    receive_from(0);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "receive";
    MPI_Comm comm = MPI_COMM_WORLD;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; i++)
        reduce_all(MPI_COMM_WORLD);
    if (strcmp(how, "first") == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == 1)
        hang_at_1(how);
    if (rank == 0 && strcmp(how, "cycle") == 0)
        receive_from(1);
    if (rank == 0 && strcmp(how, "finalize") == 0)
        MPI_Finalize();
    reduce_all(comm);
    MPI_Finalize();
    return 0;
}
