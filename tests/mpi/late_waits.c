/* late_waits [threads] CALL...: in each call rank 0 computes for a while before it arrives. The
 * last rank prints how often it yielded and slept meanwhile, by the counts of libgiving.so:
 *
 *     CALL yields=N sleeps=N
 *     CALL did not wait         where it was over before rank 0 came
 *
 * Calls are those of the table below, and
 *
 *     tests    MPI_Test in a loop until the message is there
 *     works    MPI_Test between pieces of work
 *     errno    stays as it is in a wait
 *     abort    by rank 0, with 9, while the others wait
 */
#include "mpi_test.h"

#include <errno.h>

#define LATE_S 0.05
#define PIECE_S 0.00002

/* libgiving.so's. */
__attribute__((weak)) long giving_yields(void);
__attribute__((weak)) long giving_sleeps(void);

static int rank, ranks;
static MPI_Win window;

static void compute(double seconds)
{
    for (double end_s = MPI_Wtime() + seconds; MPI_Wtime() < end_s;)
        ;
}

/* ---- calls: of rank 0 (after it has computed) and of the last, which waits ---- */

static void put_word(int word)
{
    if (rank == 0)
        MUST(MPI_Send(&word, 1, MPI_INT, ranks - 1, 7, MPI_COMM_WORLD));
}

static void get_word(int word)
{
    int got = -1;

    MUST(MPI_Recv(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    REQUIRE(got == word);
}

static void recv(void)
{
    put_word(1);
    if (rank == ranks - 1)
        get_word(1);
}

static void ssend(void)
{
    int word = 2;

    if (rank == ranks - 1)
        MUST(MPI_Ssend(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD));
    if (rank == 0)
        MUST(MPI_Recv(&word, 1, MPI_INT, ranks - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void sendrecv(void)
{
    int mine = rank, other = -1, peer = rank == 0 ? ranks - 1 : 0;

    if (rank != 0 && rank != ranks - 1)
        return;
    MUST(MPI_Sendrecv(&mine, 1, MPI_INT, peer, 1, &other, 1, MPI_INT, peer, 1, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE));
    REQUIRE(other == peer);
}

static void probe(void)
{
    put_word(3);
    if (rank == ranks - 1) {
        MUST(MPI_Probe(0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        get_word(3);
    }
}

static void wait(void)
{
    int got = -1;
    MPI_Request request;

    put_word(4);
    if (rank < ranks - 1)
        return;
    MUST(MPI_Irecv(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    REQUIRE(got == 4);
}

static void waitall(void)
{
    int got[2] = {-1, -1};
    MPI_Request requests[2];
    MPI_Status statuses[2];

    put_word(5);
    put_word(6);
    if (rank < ranks - 1)
        return;
    for (int i = 0; i < 2; i++)
        MUST(MPI_Irecv(&got[i], 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &requests[i]));
    MUST(MPI_Waitall(2, requests, statuses));
    REQUIRE(got[0] == 5 && got[1] == 6);
}

static void scatter(void)
{
    int words[16], word = -1;

    for (int i = 0; i < 16; i++)
        words[i] = rank == 0 ? 8 : -1;
    MUST(MPI_Scatter(words, 1, MPI_INT, &word, 1, MPI_INT, 0, MPI_COMM_WORLD));
    REQUIRE(word == 8);
}

static void alltoall(void)
{
    int *to = calloc((size_t)ranks, sizeof *to), *from = calloc((size_t)ranks, sizeof *from);

    for (int i = 0; i < ranks; i++)
        to[i] = rank * ranks + i;
    MUST(MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < ranks; i++)
        REQUIRE(from[i] == i * ranks + rank);
    free(to);
    free(from);
}

static void comm_dup(void)
{
    MPI_Comm comm;

    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MUST(MPI_Comm_free(&comm));
}

static void split(void)
{
    MPI_Comm comm;

    MUST(MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm));
    MUST(MPI_Comm_free(&comm));
}

static void fence(void)
{
    MUST(MPI_Win_fence(0, window));
}

/* Nobody needs to be asked for the lock; unlocking waits until the other rank has everything. */
static void unlock(void)
{
    double value = 1;

    if (rank < ranks - 1)
        return;
    MUST(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, window));
    MUST(MPI_Put(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window));
    MUST(MPI_Win_unlock(0, window));
}

static void lock(void)
{
    double value = 1;

    if (rank < ranks - 1)
        return;
    MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
    MUST(MPI_Put(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window));
    MUST(MPI_Win_unlock(0, window));
}

static void tests(void)
{
    int got = -1, done = 0;
    MPI_Request request;

    put_word(9);
    if (rank < ranks - 1)
        return;
    MUST(MPI_Irecv(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request));
    while (!done)
        MUST(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    REQUIRE(got == 9);
}

static const struct call {
    const char *name;
    void (*call)(void);
} calls[] = {
    {"recv", recv},     {"ssend", ssend},     {"sendrecv", sendrecv}, {"probe", probe},
    {"wait", wait},     {"waitall", waitall}, {"scatter", scatter},   {"alltoall", alltoall},
    {"dup", comm_dup},  {"split", split},     {"fence", fence},       {"lock", lock},
    {"unlock", unlock}, {"tests", tests},
};

static long yields(void)
{
    return giving_yields == NULL ? 0 : giving_yields();
}

static long sleeps(void)
{
    return giving_sleeps == NULL ? 0 : giving_sleeps();
}

static void print(const char *name, long yields_before, long sleeps_before)
{
    if (rank == ranks - 1)
        printf("%s yields=%ld sleeps=%ld\n", name, yields() - yields_before,
               sleeps() - sleeps_before);
    fflush(stdout);
}

/* own_s: on rank 0 its time of arrival, on the last rank the end of its call. */
static void compare_times(const struct call *call, double own_s)
{
    double came_s;

    if (rank == 0)
        MUST(MPI_Send(&own_s, 1, MPI_DOUBLE, ranks - 1, 11, MPI_COMM_WORLD));
    if (rank < ranks - 1)
        return;
    MUST(MPI_Recv(&came_s, 1, MPI_DOUBLE, 0, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (own_s < came_s)
        printf("%s did not wait\n", call->name);
    fflush(stdout);
}

static void run(const struct call *call)
{
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    long yields_before = yields();
    long sleeps_before = sleeps();
    if (rank == 0)
        compute(LATE_S);
    double own_s = MPI_Wtime();
    call->call();
    if (rank == ranks - 1)
        own_s = MPI_Wtime();
    print(call->name, yields_before, sleeps_before);
    compare_times(call, own_s);
}

/* A message that comes when the work is done. */
static void works(void)
{
    long yields_before, sleeps_before;
    int got = -1, done = 0;
    MPI_Request request;

    MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == ranks - 1) {
        MUST(MPI_Irecv(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request));
        yields_before = yields();
        sleeps_before = sleeps();
        for (int piece = 0; piece < 1000; piece++) {
            compute(PIECE_S);
            MUST(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        }
        print("works", yields_before, sleeps_before);
        MUST(MPI_Send(&done, 1, MPI_INT, 0, 8, MPI_COMM_WORLD));
        MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
        REQUIRE(got == 10);
    }
    if (rank == 0)
        MUST(MPI_Recv(&done, 1, MPI_INT, ranks - 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    put_word(10);
}

static void error_number(void)
{
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        compute(LATE_S);
    errno = 4711;
    recv();
    REQUIRE(errno == 4711);
    if (rank == 0)
        printf("errno stays\n");
}

/* Rank 0 ends the others when each is in its call, which has sent it a message. */
static void end_waits(void)
{
    int word = 0, never;

    if (rank > 0)
        MUST(MPI_Sendrecv(&word, 1, MPI_INT, 0, 8, &never, 1, MPI_INT, 0, 7, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    for (int other = 1; other < ranks; other++)
        MUST(MPI_Recv(&word, 1, MPI_INT, other, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    compute(LATE_S);
    MPI_Abort(MPI_COMM_WORLD, 9);
}

int main(int argc, char **argv)
{
    bool threads = argc > 1 && strcmp(argv[1], "threads") == 0;
    void *base;
    int provided;

    MUST(MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED,
                         &provided));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    MUST(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window));
    MUST(MPI_Win_fence(0, window));
    for (int i = 1 + threads; i < argc; i++) {
        if (strcmp(argv[i], "works") == 0)
            works();
        if (strcmp(argv[i], "errno") == 0)
            error_number();
        if (strcmp(argv[i], "abort") == 0)
            end_waits();
        for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
            if (strcmp(argv[i], calls[k].name) == 0)
                run(&calls[k]);
        }
    }
    MUST(MPI_Win_free(&window));
    MUST(MPI_Finalize());
    return 0;
}
