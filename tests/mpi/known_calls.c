/* MPI calls whose numbers and bytes tests/report/calls.sh knows, on 4 ranks.
 *
 * Rank 0 sends 10 messages of 800 bytes to rank 1; 5 times every rank sends 16 bytes to the next
 * and waits for both halves; 7 broadcasts of 64 bytes from rank 2; a message of 24 bytes in each of
 * two communicators of two ranks; 3 barriers. "barriers": only these.
 */
#include <mpi.h>
#include <string.h>

static void send_down(int rank)
{
    double values[100] = {0};

    for (int i = 0; i < 10 && rank == 0; i++)
        MPI_Send(values, 100, MPI_DOUBLE, 1, i, MPI_COMM_WORLD);
    for (int i = 0; i < 10 && rank == 1; i++)
        MPI_Recv(values, 100, MPI_DOUBLE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* In a communicator with the ranks in reverse order, which has the world's name. */
static void shift(int rank, int ranks)
{
    int own[4] = {rank}, theirs[4], last = ranks - 1;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Comm reversed;

    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_set_name(reversed, "MPI_COMM_WORLD");
    for (int i = 0; i < 5; i++) {
        MPI_Irecv(theirs, 4, MPI_INT, last - (rank + ranks - 1) % ranks, 100, reversed,
                  &requests[0]);
        MPI_Isend(own, 4, MPI_INT, last - (rank + 1) % ranks, 100, reversed, &requests[1]);
        MPI_Waitall(2, requests, statuses);
    }
    MPI_Comm_free(&reversed);
}

static void send_in_half(int rank)
{
    char text[24] = "";
    MPI_Comm half;

    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    MPI_Comm_set_name(half, "half");
    if (rank % 2 == 0)
        MPI_Send(text, sizeof text, MPI_CHAR, 1, 0, half);
    else
        MPI_Recv(text, sizeof text, MPI_CHAR, 0, 0, half, MPI_STATUS_IGNORE);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    char text[64] = "";
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2 || strcmp(argv[1], "barriers") != 0) {
        send_down(rank);
        shift(rank, ranks);
        for (int i = 0; i < 7; i++)
            MPI_Bcast(text, sizeof text, MPI_CHAR, 2, MPI_COMM_WORLD);
        send_in_half(rank);
    }
    for (int i = 0; i < 3; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
