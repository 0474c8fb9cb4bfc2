/* Messages of which some have no events, on 2 ranks, all with one communicator and tag. Message i,
 * from rank 0 to rank 1, has i + 1 bytes. The argument names one of the functions below. Prints
 * nothing.
 */
#include "mpi_test.h"

#define TAG 5
#define MOST 64

static int rank;
static char data[MOST][MOST];

static void record(bool on)
{
    MUST(MPI_Pcontrol(on));
}

static void send(int i)
{
    MUST(MPI_Send(data[i], i + 1, MPI_CHAR, 1, TAG, MPI_COMM_WORLD));
}

static void receive(int i, int from, int tag)
{
    MPI_Status status;
    int count;

    MUST(MPI_Recv(data[i], MOST, MPI_CHAR, from, tag, MPI_COMM_WORLD, &status));
    MUST(MPI_Get_count(&status, MPI_CHAR, &count));
    REQUIRE(count == i + 1);
}

/* Among messages 0 to 9, rank 0 does not record 3 and 4, and rank 1 does not record 4 and 7; rank 1
 * posts the receive after each gap in a different way. Both omit only 4: 1 send and 1 receive have
 * no counterpart. */
static void switched(void)
{
    MPI_Request request;

    for (int i = 0; i < 10; i++) {
        if (rank == 0) {
            if (i == 3 || i == 5)
                record(i == 5);
            send(i);
            continue;
        }
        if (i == 4 || i == 7)
            record(false);
        if (i == 5 || i == 8) {
            MUST(MPI_Irecv(data[i], MOST, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                           &request));
            MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else if (i == 4) {
            MUST(MPI_Recv(data[i], MOST, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
        } else {
            receive(i, 0, TAG);
        }
        if (i == 4 || i == 7)
            record(true);
    }
}

/* Requests that recording is switched on or off behind. Rank 0 leaves out none of 0 to 11. */
static void pending(void)
{
    MPI_Request requests[12], wildcard;
    MPI_Message message;
    int flag = 0, index;

    if (rank == 0) {
        MUST(MPI_Barrier(MPI_COMM_WORLD));
        for (int i = 0; i < 12; i++)
            send(i);
        return;
    }
    /* 0 and 1 are posted in the log; 0 is complete behind it, 1 in it. */
    MUST(MPI_Irecv(data[0], MOST, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &requests[0]));
    MUST(MPI_Irecv(data[1], MOST, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &requests[1]));
    record(false);
    /* 2 is posted and complete behind it; 3 and, by a wildcard, 4 are complete in it. */
    MUST(MPI_Irecv(data[2], MOST, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &requests[2]));
    MUST(MPI_Irecv(data[3], MOST, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &requests[3]));
    MUST(MPI_Irecv(data[4], MOST, MPI_CHAR, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &wildcard));
    MUST(MPI_Recv_init(data[5], MOST, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &requests[5]));
    MUST(MPI_Start(&requests[5]));
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_Waitany(1, &requests[0], &index, MPI_STATUS_IGNORE));
    while (!flag)
        MUST(MPI_Test(&requests[2], &flag, MPI_STATUS_IGNORE));
    record(true);
    MUST(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&wildcard, MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&requests[3], MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&requests[5], MPI_STATUS_IGNORE));
    receive(6, 0, TAG);
    /* 7 is started in the log. */
    MUST(MPI_Start(&requests[5]));
    MUST(MPI_Wait(&requests[5], MPI_STATUS_IGNORE));
    MUST(MPI_Request_free(&requests[5]));
    /* 8 is probed behind it and received in it, 9 the other way. */
    record(false);
    MUST(MPI_Mprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    record(true);
    MUST(MPI_Mrecv(data[8], MOST, MPI_CHAR, &message, MPI_STATUS_IGNORE));
    MUST(MPI_Mprobe(0, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    record(false);
    MUST(MPI_Mrecv(data[9], MOST, MPI_CHAR, &message, MPI_STATUS_IGNORE));
    /* One that is cancelled takes no message. */
    MUST(MPI_Irecv(data[10], MOST, MPI_CHAR, 0, TAG + 1, MPI_COMM_WORLD, &requests[10]));
    MUST(MPI_Cancel(&requests[10]));
    MUST(MPI_Wait(&requests[10], MPI_STATUS_IGNORE));
    record(true);
    receive(10, 0, TAG);
    receive(11, 0, TAG);
}

/* Sends of each kind, so that those that are left out are between others. */
static void kinds(void)
{
    MPI_Request request;

    for (int i = 0; i < 24; i++) {
        if (rank == 1) {
            receive(i, 0, TAG);
            continue;
        }
        switch (i % 4) {
        case 0:
            MUST(MPI_Ssend(data[i], i + 1, MPI_CHAR, 1, TAG, MPI_COMM_WORLD));
            break;
        case 1:
            send(i);
            break;
        case 2:
            MUST(MPI_Isend(data[i], i + 1, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &request));
            MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
            break;
        default:
            MUST(MPI_Sendrecv(data[i], i + 1, MPI_CHAR, 1, TAG, data[0], MOST, MPI_CHAR,
                              MPI_PROC_NULL, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
    }
}

int main(int argc, char **argv)
{
    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    REQUIRE(argc == 2);
    if (strcmp(argv[1], "switched") == 0)
        switched();
    else if (strcmp(argv[1], "pending") == 0)
        pending();
    else if (strcmp(argv[1], "kinds") == 0)
        kinds();
    else
        REQUIRE(!"a part");
    MUST(MPI_Finalize());
    return 0;
}
