/* late_waits [threads] WORD...: in each call rank 0 arrives when the last rank has been in it for
 * LATE_S, and after the word
 *
 *     sleeps   has slept in it (yields: has yielded), or is out of it
 *
 * The last rank prints how often it yielded and slept meanwhile:
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
#include "given.h"

#include <errno.h>

#define LATE_S 0.05
#define PIECE_S 0.00002
#define PATIENCE_S 60 /* for what never comes */

static struct {
    struct given last; /* the last rank's */
    struct given before;
    _Atomic int begun, over, came; /* calls that the last rank has begun and ended, rank 0 begun */
} * shared;
static _Atomic long *wanted, *wanted_before;

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

static void begin_count(void)
{
    shared->before.yields = shared->last.yields;
    shared->before.sleeps = shared->last.sleeps;
}

static void print(const char *name)
{
    printf("%s yields=%ld sleeps=%ld\n", name, shared->last.yields - shared->before.yields,
           shared->last.sleeps - shared->before.sleeps);
    fflush(stdout);
}

static void be_late(int number)
{
    double end_s = MPI_Wtime() + PATIENCE_S;

    while (shared->begun < number)
        syscall(SYS_sched_yield);
    do
        compute(LATE_S);
    while (wanted != NULL && *wanted == *wanted_before && shared->over < number &&
           MPI_Wtime() < end_s);
    shared->came = number;
}

static void run(const struct call *call)
{
    static int number;

    number++;
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == ranks - 1) {
        begin_count();
        shared->begun = number;
    }
    if (rank == 0)
        be_late(number);
    call->call();
    if (rank < ranks - 1)
        return;
    print(call->name);
    if (shared->came < number)
        printf("%s did not wait\n", call->name);
    fflush(stdout);
    shared->over = number;
}

/* A message that comes when the work is done. */
static void works(void)
{
    int got = -1, done = 0;
    MPI_Request request;

    MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == ranks - 1) {
        MUST(MPI_Irecv(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request));
        begin_count();
        for (int piece = 0; piece < 1000; piece++) {
            compute(PIECE_S);
            MUST(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        }
        print("works");
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
    MPI_Win sharing;
    void *base;
    int provided;

    MUST(MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED,
                         &provided));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    MUST(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window));
    MUST(MPI_Win_fence(0, window));
    shared = given_share(sizeof *shared, &sharing);
    if (rank == ranks - 1)
        given_own = &shared->last;
    for (int i = 1 + threads; i < argc; i++) {
        if (strcmp(argv[i], "sleeps") == 0) {
            wanted = &shared->last.sleeps;
            wanted_before = &shared->before.sleeps;
        }
        if (strcmp(argv[i], "yields") == 0) {
            wanted = &shared->last.yields;
            wanted_before = &shared->before.yields;
        }
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
    given_end(&sharing);
    MUST(MPI_Win_free(&window));
    MUST(MPI_Finalize());
    return 0;
}
