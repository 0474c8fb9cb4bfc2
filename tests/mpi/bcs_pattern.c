/* The exchange of `stagger sim bcs`, live: neighbours in a line, or in a ring if their number is
 * even, exchange messages and compute between exchanges.
 *
 *     bcs_pattern blocking|nonblocking STEPS GRANULARITY_US BYTES
 *
 * Blocking: ranks compute, then send and receive in turns. Nonblocking: they compute while the
 * messages of a step are in flight. Received data are checked. Rank 0 prints the number of
 * messages, the total time and the time spent in MPI calls.
 */
#include "clock.h"
#include "mpi_test.h"

enum { RIGHTWARD, LEFTWARD };

/* One neighbour: the messages sent to it and received from it. */
struct side {
    int peer; /* MPI_PROC_NULL: none */
    int out_tag, in_tag;
    unsigned char *out, *in;
};

static int rank, ranks, bytes;
static uint64_t in_calls_ns;
static long received;
static volatile uint64_t sink;

static void work(uint64_t rounds)
{
    uint64_t value = sink;

    for (uint64_t i = 0; i < rounds; i++)
        value = value * UINT64_C(6364136223846793005) + 1;
    sink = value;
}

/* The rounds of a microsecond, where nothing else runs. */
static double calibrate(void)
{
    double best = 0;

    for (int i = 0; i < 20; i++) {
        uint64_t begin_ns = now_ns();

        work(100000);
        double rate = 100000.0 * 1000 / (double)(now_ns() - begin_ns);
        best = rate > best ? rate : best;
    }
    return best;
}

static unsigned char content(int from, int step, int tag)
{
    return (unsigned char)(from * 37 + step * 3 + tag + 1);
}

static void fill(struct side *side, int step)
{
    memset(side->out, content(rank, step, side->out_tag), (size_t)bytes);
    memset(side->in, 0, (size_t)bytes);
}

static void check(const struct side *side, int step)
{
    if (side->peer == MPI_PROC_NULL)
        return;
    for (int i = 0; i < bytes; i++)
        REQUIRE(side->in[i] == content(side->peer, step, side->in_tag));
    received++;
}

static void send(const struct side *side)
{
    MUST(MPI_Send(side->out, bytes, MPI_BYTE, side->peer, side->out_tag, MPI_COMM_WORLD));
}

static void receive(const struct side *side)
{
    MPI_Status status;

    MUST(MPI_Recv(side->in, bytes, MPI_BYTE, side->peer, side->in_tag, MPI_COMM_WORLD, &status));
    REQUIRE(side->peer == MPI_PROC_NULL || status.MPI_SOURCE == side->peer);
}

/* Neighbours call in opposite order. */
static void blocking(const struct side *left, const struct side *right, uint64_t rounds)
{
    work(rounds);
    uint64_t begin_ns = now_ns();
    if (rank % 2 == 0) {
        send(right);
        receive(right);
        send(left);
        receive(left);
    } else {
        receive(left);
        send(left);
        receive(right);
        send(right);
    }
    in_calls_ns += now_ns() - begin_ns;
}

static void nonblocking(const struct side *left, const struct side *right, uint64_t rounds)
{
    const struct side *sides[] = {left, right};
    MPI_Request requests[4];
    MPI_Status statuses[4];
    uint64_t begin_ns = now_ns();

    for (int i = 0; i < 2; i++)
        MUST(MPI_Irecv(sides[i]->in, bytes, MPI_BYTE, sides[i]->peer, sides[i]->in_tag,
                       MPI_COMM_WORLD, &requests[i]));
    for (int i = 0; i < 2; i++)
        MUST(MPI_Isend(sides[i]->out, bytes, MPI_BYTE, sides[i]->peer, sides[i]->out_tag,
                       MPI_COMM_WORLD, &requests[2 + i]));
    in_calls_ns += now_ns() - begin_ns;
    work(rounds);
    begin_ns = now_ns();
    MUST(MPI_Waitall(4, requests, statuses));
    in_calls_ns += now_ns() - begin_ns;
}

static struct side side_of(int by, int out_tag)
{
    int peer = rank + by;

    if (ranks % 2 == 0)
        peer = (peer + ranks) % ranks;
    else if (peer < 0 || peer >= ranks)
        peer = MPI_PROC_NULL;
    return (struct side){peer, out_tag, 1 - out_tag, malloc((size_t)bytes + 1),
                         malloc((size_t)bytes + 1)};
}

int main(int argc, char **argv)
{
    MUST(MPI_Init(&argc, &argv));
    REQUIRE(argc == 5);
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    bool waits = strcmp(argv[1], "blocking") == 0;
    int steps = atoi(argv[2]);
    bytes = atoi(argv[4]);
    struct side left = side_of(-1, LEFTWARD);
    struct side right = side_of(1, RIGHTWARD);
    uint64_t rounds = (uint64_t)(atof(argv[3]) * calibrate());
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    uint64_t begin_ns = now_ns();
    for (int step = 0; step < steps; step++) {
        fill(&left, step);
        fill(&right, step);
        (waits ? blocking : nonblocking)(&left, &right, rounds);
        check(&left, step);
        check(&right, step);
    }
    begin_ns = now_ns() - begin_ns;
    if (rank == 0) {
        printf("%ld messages\n", received);
        fprintf(stderr, "time %.3f ms, in calls %.3f ms\n", (double)begin_ns / 1e6,
                (double)in_calls_ns / 1e6);
    }
    free(left.out);
    free(left.in);
    free(right.out);
    free(right.in);
    MUST(MPI_Finalize());
    return 0;
}
