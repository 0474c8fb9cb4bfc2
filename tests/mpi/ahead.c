/* Ranks that run ahead of others, as far as stock MPICH lets them:
 *
 *     ahead reduce CALLS BYTES   the last rank contributes to reduces to rank 0 before anybody else
 *                                calls
 *     ahead bcast CALLS BYTES    rank 0 broadcasts before anybody else calls
 *     ahead relay CALLS BYTES    ... and rank 1 takes the broadcasts before the others call
 *     ahead served CALLS BYTES   rank 0 broadcasts while it receives large messages, which the
 *                                others send before they call
 *     ahead new                  likewise, one call each, the first on a new communicator
 *     ahead freed                ... and the communicator is freed by then
 *     ahead orders               first reduces, and broadcasts, on two new communicators, in
 *                                another order on each of 2 ranks
 *     ahead together CALLS       allreduces, each beside a reduce and a broadcast, on a new
 *                                communicator
 *
 * reduce, bcast and relay may follow one another. The other ranks wait for a message from a rank
 * that is ahead. Every element is checked.
 */
#include "mpi_test.h"

static int rank, ranks;
static char empty;

static void send_to(int to)
{
    MUST(MPI_Send(&empty, 0, MPI_BYTE, to, 0, MPI_COMM_WORLD));
}

static void await(int from)
{
    MUST(MPI_Recv(&empty, 0, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void reduce(MPI_Comm comm, int count, int number, int root)
{
    double *mine = calloc((size_t)count, sizeof *mine), *sum = calloc((size_t)count, sizeof *sum);

    for (int i = 0; i < count; i++)
        mine[i] = (double)number + i + rank;
    MUST(MPI_Reduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, root, comm));
    for (int i = 0; i < count && rank == root; i++)
        REQUIRE(sum[i] == ranks * ((double)number + i) + ranks * (ranks - 1) / 2);
    free(mine);
    free(sum);
}

static void broadcast(MPI_Comm comm, int count, int number, int root)
{
    double *data = calloc((size_t)count, sizeof *data);

    for (int i = 0; i < count; i++)
        data[i] = rank == root ? (double)number * 3 + i : -1;
    MUST(MPI_Bcast(data, count, MPI_DOUBLE, root, comm));
    for (int i = 0; i < count; i++)
        REQUIRE(data[i] == (double)number * 3 + i);
    free(data);
}

static void run_ahead(MPI_Comm comm, const char *how, int calls, int count)
{
    bool reduces = strcmp(how, "reduce") == 0, relays = strcmp(how, "relay") == 0;
    int first = reduces ? ranks - 1 : 0, tells = relays ? 1 : first;
    bool is_ahead = rank == first || rank == tells;

    if (!is_ahead)
        await(tells);
    for (int i = 0; i < calls; i++) {
        if (reduces)
            reduce(comm, count, i, 0);
        else
            broadcast(comm, count, i, 0);
    }
    for (int to = 0; to < ranks && rank == tells; to++) {
        if (to != first && to != tells)
            send_to(to);
    }
    MUST(MPI_Barrier(comm));
    reduce(comm, count, calls, ranks - 1);
}

#define LARGE_BYTES (1 << 20)

static void run_served(int calls, int count)
{
    char *large = calloc((size_t)ranks, LARGE_BYTES);
    MPI_Request *requests = calloc((size_t)ranks, sizeof *requests);

    REQUIRE(large != NULL && requests != NULL);
    for (int from = 1; from < ranks && rank == 0; from++)
        MUST(MPI_Irecv(large + (size_t)from * LARGE_BYTES, LARGE_BYTES, MPI_BYTE, from, 0,
                       MPI_COMM_WORLD, &requests[from - 1]));
    if (rank != 0)
        MUST(MPI_Send(large, LARGE_BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD));
    for (int i = 0; i < calls; i++)
        broadcast(MPI_COMM_WORLD, count, i, 0);
    for (int from = 1; from < ranks && rank == 0; from++)
        MUST(MPI_Wait(&requests[from - 1], MPI_STATUS_IGNORE));
    free(requests);
    free(large);
}

static void run_new(void)
{
    static const char *const ways[] = {"reduce", "bcast", "relay"};

    for (int i = 0; i < (ranks > 2 ? 3 : 2); i++) {
        MPI_Comm comm;

        MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        run_ahead(comm, ways[i], 1, 1);
        MUST(MPI_Comm_free(&comm));
    }
}

static void run_freed(void)
{
    MPI_Comm comm;

    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < 2; i++)
        MUST(MPI_Barrier(comm));
    if (rank != ranks - 1)
        await(ranks - 1);
    for (int i = 0; i < 30; i++)
        reduce(comm, 1, i, 0);
    MUST(MPI_Comm_free(&comm));
    for (int to = 0; to < ranks - 1 && rank == ranks - 1; to++)
        send_to(to);
}

static void run_orders(void)
{
    MPI_Comm comms[2];

    REQUIRE(ranks == 2);
    for (int i = 0; i < 2; i++)
        MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    /* Each rank first contributes, or sends, and then gets. */
    reduce(comms[rank], 1, 7, 1 - rank);
    reduce(comms[1 - rank], 1, 7, rank);
    broadcast(comms[rank], 1, 5, rank);
    broadcast(comms[1 - rank], 1, 5, 1 - rank);
    for (int i = 0; i < 2; i++)
        MUST(MPI_Comm_free(&comms[i]));
}

static __attribute__((noinline)) void run_together(int calls)
{
    MPI_Comm comm;

    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < calls; i++) {
        double mine = rank + i, sum;

        reduce(comm, 1, i, i % ranks);
        broadcast(comm, 1, i, i % ranks);
        MUST(MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm));
        REQUIRE(sum == ranks * (double)i + ranks * (ranks - 1) / 2);
    }
    MUST(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    REQUIRE(argc >= 2);
    START(rank, ranks);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (strcmp(argv[1], "new") == 0) {
        run_new();
    } else if (strcmp(argv[1], "freed") == 0) {
        run_freed();
    } else if (strcmp(argv[1], "orders") == 0) {
        run_orders();
    } else if (strcmp(argv[1], "together") == 0) {
        REQUIRE(argc == 3);
        run_together(atoi(argv[2]));
    } else if (strcmp(argv[1], "served") == 0) {
        REQUIRE(argc == 4);
        run_served(atoi(argv[2]), atoi(argv[3]) / 8);
    } else {
        for (int i = 1; i < argc; i += 3) {
            REQUIRE(i + 2 < argc);
            run_ahead(MPI_COMM_WORLD, argv[i], atoi(argv[i + 1]), atoi(argv[i + 2]) / 8);
        }
    }
    MUST(MPI_Finalize());
    printf("rank %d finished\n", rank);
    return 0;
}
