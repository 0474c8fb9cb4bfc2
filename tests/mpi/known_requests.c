/* Requests of every kind whose completions and bytes tests/profile/test_request_counts.py knows, on
 * 2 ranks: rank 0 sends, rank 1 receives. A message has 100 bytes. Prints nothing.
 *
 *     known_requests [whole | dropped]    whole: without messages in parts
 *
 * dropped: makes instead many sends that complete at once and whose request nobody waits for or
 * frees. Each rank prints how much its memory has grown meanwhile.
 */
#include "mpi_test.h"

#define BYTES 100
#define SEVERAL 4

/* Not a constant, which the compiler takes for the address of too small an array. */
static MPI_Status *volatile none = MPI_STATUSES_IGNORE;
static int rank;
static char data[SEVERAL][BYTES];

/* A request of this rank's side of a message. */
static MPI_Request post(int i)
{
    MPI_Request request;

    if (rank == 0)
        MUST(MPI_Isend(data[i], BYTES, MPI_CHAR, 1, i, MPI_COMM_WORLD, &request));
    else
        MUST(MPI_Irecv(data[i], BYTES, MPI_CHAR, 0, i, MPI_COMM_WORLD, &request));
    return request;
}

static void post_several(MPI_Request *requests)
{
    for (int i = 0; i < SEVERAL; i++)
        requests[i] = i == 1 ? MPI_REQUEST_NULL : post(i);
}

/* 3 messages each time: one of the requests is none. */
static void waits(void)
{
    MPI_Request requests[SEVERAL];
    MPI_Status statuses[SEVERAL];
    int index, done, indices[SEVERAL], left, flag;

    post_several(requests);
    MUST(MPI_Waitall(SEVERAL, requests, none));
    post_several(requests);
    MUST(MPI_Waitall(SEVERAL, requests, statuses));
    post_several(requests);
    for (int i = 0; i < SEVERAL - 1; i++)
        MUST(MPI_Waitany(SEVERAL, requests, &index, MPI_STATUS_IGNORE));
    MUST(MPI_Waitany(SEVERAL, requests, &index, MPI_STATUS_IGNORE)); /* of none */
    REQUIRE(index == MPI_UNDEFINED);
    post_several(requests);
    for (left = SEVERAL - 1; left > 0; left -= done)
        MUST(MPI_Waitsome(SEVERAL, requests, &done, indices, none));
    post_several(requests);
    for (flag = 0; !flag;)
        MUST(MPI_Testall(SEVERAL, requests, &flag, none));
    post_several(requests);
    for (left = SEVERAL - 1; left > 0; left -= flag && index != MPI_UNDEFINED)
        MUST(MPI_Testany(SEVERAL, requests, &index, &flag, MPI_STATUS_IGNORE));
    post_several(requests);
    for (left = SEVERAL - 1; left > 0; left -= done)
        MUST(MPI_Testsome(SEVERAL, requests, &done, indices, statuses));
    requests[0] = post(0);
    for (flag = 0; !flag;)
        MUST(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    requests[0] = post(0);
    MUST(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&requests[0], MPI_STATUS_IGNORE)); /* of none */
}

/* 5 messages of a persistent request; a wait for one that is not active completes nothing. */
static void persistent(void)
{
    MPI_Request request;

    if (rank == 0)
        MUST(MPI_Send_init(data, BYTES, MPI_CHAR, 1, 10, MPI_COMM_WORLD, &request));
    else
        MUST(MPI_Recv_init(data, BYTES, MPI_CHAR, 0, 10, MPI_COMM_WORLD, &request));
    for (int i = 0; i < 5; i++) {
        if (i % 2 == 0)
            MUST(MPI_Start(&request));
        else
            MUST(MPI_Startall(1, &request));
        MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
        MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    MUST(MPI_Request_free(&request));
}

/* A request that is freed, and one that is cancelled: their completions are not seen. */
static void given_up(void)
{
    MPI_Request request;

    if (rank == 0) {
        MUST(MPI_Isend(data, BYTES, MPI_CHAR, 1, 20, MPI_COMM_WORLD, &request));
        MUST(MPI_Request_free(&request));
    } else {
        MUST(MPI_Recv(data, BYTES, MPI_CHAR, 0, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MUST(MPI_Irecv(data, BYTES, MPI_CHAR, 0, 21, MPI_COMM_WORLD, &request));
        MUST(MPI_Cancel(&request));
        MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

/* A message that is probed for, and received by what was found. */
static void matched(void)
{
    MPI_Message message;
    MPI_Request request;
    int flag = 0;

    if (rank == 0) {
        MUST(MPI_Send(data, BYTES, MPI_CHAR, 1, 30, MPI_COMM_WORLD));
        MUST(MPI_Send(data, BYTES, MPI_CHAR, 1, 31, MPI_COMM_WORLD));
        return;
    }
    MUST(MPI_Mprobe(0, 30, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    MUST(MPI_Imrecv(data, BYTES, MPI_CHAR, &message, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    while (!flag)
        MUST(MPI_Improbe(MPI_ANY_SOURCE, 31, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
    MUST(MPI_Mrecv(data, BYTES, MPI_CHAR, &message, MPI_STATUS_IGNORE));
}

/* 200 bytes in 2 parts, twice. */
static void partitioned(void)
{
    MPI_Request request;

    if (rank == 0)
        MUST(MPI_Psend_init(data, 2, BYTES, MPI_CHAR, 1, 40, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &request));
    else
        MUST(MPI_Precv_init(data, 2, BYTES, MPI_CHAR, 0, 40, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &request));
    for (int i = 0; i < 2; i++) {
        MUST(MPI_Start(&request));
        if (rank == 0)
            MUST(MPI_Pready_range(0, 1, request));
        MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    MUST(MPI_Request_free(&request));
}

/* Requests of collectives, and of a communicator that is made. */
static void others(void)
{
    MPI_Request request;
    MPI_Comm copy;

    MUST(MPI_Ibcast(data, BYTES, MPI_CHAR, 0, MPI_COMM_WORLD, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MUST(MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MUST(MPI_Comm_free(&copy));
}

/* Private memory that can be written, KiB. */
static long data_kib(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[128];
    long kib = 0;

    REQUIRE(status != NULL);
    while (fgets(line, sizeof line, status) != NULL)
        sscanf(line, "VmData: %ld", &kib);
    fclose(status);
    return kib;
}

/* MPICH gives one request, with the mark of predefined objects, to all sends that are complete at
 * once. */
static bool is_shared(MPI_Request request)
{
    return (unsigned)request >> 30 == 1;
}

static void dropped(void)
{
    long before = 0;

    for (int i = 0; i < 400000; i++) {
        MPI_Request request;

        if (i == 200000)
            before = data_kib();
        if (rank == 0)
            MUST(MPI_Isend(data, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request));
        else
            MUST(MPI_Recv(data, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, none));
        if (rank == 0 && !is_shared(request))
            MUST(MPI_Wait(&request, none));
        if (i % 100 == 0)
            MUST(MPI_Barrier(MPI_COMM_WORLD));
    }
    printf("grown by %ld KiB\n", data_kib() - before);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc == 2 && strcmp(argv[1], "dropped") == 0) {
        dropped();
        MPI_Finalize();
        return 0;
    }
    waits();
    persistent();
    given_up();
    matched();
    if (argc == 1)
        partitioned();
    others();
    MPI_Finalize();
    return 0;
}
