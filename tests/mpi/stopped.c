/* In each call the last rank arrives only after it has been stopped and continued, while the others
 * wait for it:
 *
 *     stopped DIRECTORY CALL...
 *
 * Calls are those of the table below. Each rank writes its process number to its file in DIRECTORY.
 * The last rank stops itself; an observer continues it. Rank 0 prints each call whose results are
 * right on all ranks.
 */
#include "mpi_test.h"

#include <signal.h>

enum { COUNT = 5 };

static int rank, ranks;
static MPI_Comm turned = MPI_COMM_NULL; /* the ranks in reverse order */

/* Element k of rank i's operand. */
static int value(int i, int k)
{
    return 1000 * (i + 1) + k;
}

static int sum(int k)
{
    int total = 0;

    for (int i = 0; i < ranks; i++)
        total += value(i, k);
    return total;
}

static void fill(int *data)
{
    for (int k = 0; k < COUNT; k++)
        data[k] = value(rank, k);
}

static void call_recv(void)
{
    int data[COUNT];

    fill(data);
    if (rank == ranks - 1) {
        for (int to = 0; to < rank; to++)
            MUST(MPI_Send(data, COUNT, MPI_INT, to, 3, MPI_COMM_WORLD));
        return;
    }
    MUST(MPI_Recv(data, COUNT, MPI_INT, ranks - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int k = 0; k < COUNT; k++)
        REQUIRE(data[k] == value(ranks - 1, k));
}

static void call_turned(void)
{
    int data[COUNT];

    fill(data);
    if (rank == ranks - 1) {
        for (int to = 1; to < ranks; to++)
            MUST(MPI_Send(data, COUNT, MPI_INT, to, 3, turned));
        return;
    }
    MUST(MPI_Recv(data, COUNT, MPI_INT, 0, 3, turned, MPI_STATUS_IGNORE));
    for (int k = 0; k < COUNT; k++)
        REQUIRE(data[k] == value(ranks - 1, k));
}

static void call_waitall(void)
{
    int data[COUNT], got[COUNT] = {0};
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    MPI_Request requests[2];
    MPI_Status statuses[2];

    /* On the last one all the others wait, each for the one before it. */
    fill(data);
    if (rank != ranks - 1)
        MUST(MPI_Recv(got, COUNT, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MUST(MPI_Isend(data, COUNT, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[0]));
    requests[1] = MPI_REQUEST_NULL;
    if (rank == ranks - 1)
        MUST(MPI_Irecv(got, COUNT, MPI_INT, left, 4, MPI_COMM_WORLD, &requests[1]));
    MUST(MPI_Waitall(2, requests, statuses));
    for (int k = 0; k < COUNT; k++)
        REQUIRE(got[k] == value(left, k));
}

static void call_alltoall(void)
{
    int *from = calloc((size_t)ranks, sizeof *from), *into = calloc((size_t)ranks, sizeof *into);

    for (int i = 0; i < ranks; i++)
        from[i] = value(rank, i);
    MUST(MPI_Alltoall(from, 1, MPI_INT, into, 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < ranks; i++)
        REQUIRE(into[i] == value(i, rank));
    free(from);
    free(into);
}

static void call_barrier(void)
{
    MUST(MPI_Barrier(MPI_COMM_WORLD));
}

static void call_allreduce(void)
{
    int data[COUNT], got[COUNT];

    fill(data);
    MUST(MPI_Allreduce(data, got, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int k = 0; k < COUNT; k++)
        REQUIRE(got[k] == sum(k));
}

static void call_iallreduce(void)
{
    int data[COUNT], got[COUNT];
    MPI_Request request;

    fill(data);
    MUST(MPI_Iallreduce(data, got, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int k = 0; k < COUNT; k++)
        REQUIRE(got[k] == sum(k));
}

/* The root waits in the reduction, the others in what follows it. */
static void call_reduce(void)
{
    int data[COUNT], got[COUNT];

    fill(data);
    MUST(MPI_Reduce(data, got, COUNT, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    MUST(MPI_Bcast(got, COUNT, MPI_INT, 0, MPI_COMM_WORLD));
    for (int k = 0; k < COUNT; k++)
        REQUIRE(got[k] == sum(k));
}

static const struct {
    const char *name;
    void (*call)(void);
} calls[] = {
    {"recv", call_recv},       {"waitall", call_waitall},     {"alltoall", call_alltoall},
    {"barrier", call_barrier}, {"allreduce", call_allreduce}, {"iallreduce", call_iallreduce},
    {"reduce", call_reduce},   {"turned", call_turned},
};

static void (*find_call(const char *name))(void)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i].name, name) == 0)
            return calls[i].call;
    }
    return NULL;
}

static void tell_process(const char *directory)
{
    char name[4096], whole[4096 + 8];

    snprintf(name, sizeof name, "%s/%d", directory, rank);
    snprintf(whole, sizeof whole, "%s.new", name);
    FILE *file = fopen(whole, "w");
    REQUIRE(file != NULL && fprintf(file, "%d\n", (int)getpid()) > 0 && fclose(file) == 0);
    REQUIRE(rename(whole, name) == 0);
}

int main(int argc, char **argv)
{
    START(rank, ranks);
    REQUIRE(argc > 2 && ranks > 1);
    tell_process(argv[1]);
    for (int i = 2; i < argc && turned == MPI_COMM_NULL; i++) {
        if (strcmp(argv[i], "turned") == 0)
            MUST(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned));
    }
    for (int i = 2; i < argc; i++) {
        void (*call)(void) = find_call(argv[i]);

        REQUIRE(call != NULL);
        MUST(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == ranks - 1)
            raise(SIGSTOP);
        call();
        MUST(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0)
            printf("%s\n", argv[i]);
    }
    if (turned != MPI_COMM_NULL)
        MUST(MPI_Comm_free(&turned));
    MUST(MPI_Finalize());
    return 0;
}
