/* Checks that a single query after a collective finds what was sent or done before it:
 *
 *     behind OPERATION[,OPERATION]... ROUNDS [CASE]
 *
 * Rank 0 sends the last rank messages, or accesses its window; all ranks go through an operation;
 * the last rank then asks once. Prints the cases in which a round found nothing.
 */
#include "mpi_test.h"

#include <pthread.h>

enum { TAG = 1, OTHER_TAG, MANY = 40, FEW = 4, LARGE = 1 << 20, WIDE = 20000 };

static int rank, size, asker;
static bool has_threads;
static MPI_Comm other;
static char large[LARGE];

#define SENDS (rank == 0)
#define ASKS (rank == asker)

/* ---- operations ---- */

static int numbers[WIDE], sums[WIDE];
static MPI_Request pending;
static MPI_Status statuses[FEW];

static void barrier(void)
{
    MUST(MPI_Barrier(MPI_COMM_WORLD));
}

static void allreduce(void)
{
    MUST(MPI_Allreduce(numbers, sums, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

static void allreduce_wide(void)
{
    MUST(MPI_Allreduce(numbers, sums, WIDE, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

static void reduce(void)
{
    MUST(MPI_Reduce(numbers, sums, 1, MPI_INT, MPI_SUM, asker, MPI_COMM_WORLD));
}

static void bcast(void)
{
    MUST(MPI_Bcast(numbers, 1, MPI_INT, 0, MPI_COMM_WORLD));
}

static void wait_for_it(void)
{
    MUST(MPI_Wait(&pending, MPI_STATUS_IGNORE));
}

static void test_for_it(void)
{
    int done = 0;

    while (!done)
        MUST(MPI_Test(&pending, &done, MPI_STATUS_IGNORE));
}

static void ibarrier(void)
{
    MUST(MPI_Ibarrier(MPI_COMM_WORLD, &pending));
    wait_for_it();
}

static void ibarrier_tested(void)
{
    MUST(MPI_Ibarrier(MPI_COMM_WORLD, &pending));
    test_for_it();
}

static void iallreduce(void)
{
    MUST(MPI_Iallreduce(numbers, sums, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &pending));
    test_for_it();
}

static void ireduce(void)
{
    MUST(MPI_Ireduce(numbers, sums, 1, MPI_INT, MPI_SUM, asker, MPI_COMM_WORLD, &pending));
    wait_for_it();
}

static void ibcast(void)
{
    MUST(MPI_Ibcast(numbers, 1, MPI_INT, 0, MPI_COMM_WORLD, &pending));
    MUST(MPI_Waitall(1, &pending, statuses));
}

static void *run_barrier(void *nothing)
{
    barrier();
    return nothing;
}

/* Another thread goes through it. */
static void threads(void)
{
    pthread_t thread;

    REQUIRE(pthread_create(&thread, NULL, run_barrier, NULL) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
}

static const struct operation {
    const char *name;
    void (*run)(void);
} operations[] = {
    {"barrier", barrier},       {"allreduce", allreduce}, {"allreduce_wide", allreduce_wide},
    {"reduce", reduce},         {"bcast", bcast},         {"ibarrier", ibarrier},
    {"ireduce", ireduce},       {"ibcast", ibcast},       {"ibarrier_tested", ibarrier_tested},
    {"iallreduce", iallreduce}, {"threads", threads},
};

static void (*collective)(void);

/* ---- messages ---- */

static void send(int count, int tag, MPI_Comm comm)
{
    MUST(MPI_Send(large, count, MPI_BYTE, asker, tag, comm));
}

static void receive(int tag, MPI_Comm comm)
{
    MUST(MPI_Recv(large, LARGE, MPI_BYTE, 0, tag, comm, MPI_STATUS_IGNORE));
}

static int look(int from, int tag, MPI_Comm comm)
{
    int flag = -1;

    MUST(MPI_Iprobe(from, tag, comm, &flag, MPI_STATUS_IGNORE));
    return flag;
}

static bool probe(int from, int tag, MPI_Comm comm)
{
    bool seen = true;

    if (SENDS)
        send(8, TAG, comm);
    collective();
    if (ASKS) {
        seen = look(from, tag, comm);
        receive(TAG, comm);
    }
    return seen;
}

static bool iprobe(void)
{
    return probe(0, TAG, MPI_COMM_WORLD);
}

static bool iprobe_any(void)
{
    return probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD);
}

static bool iprobe_other(void)
{
    return probe(0, TAG, other);
}

/* The last of many. */
static bool iprobe_many(void)
{
    bool seen = true;

    for (int i = 0; SENDS && i < MANY; i++)
        send(8, OTHER_TAG, i % 2 == 0 ? other : MPI_COMM_WORLD);
    if (SENDS)
        send(8, TAG, MPI_COMM_WORLD);
    collective();
    if (ASKS) {
        seen = look(0, TAG, MPI_COMM_WORLD);
        for (int i = 0; i < MANY; i++)
            receive(OTHER_TAG, i % 2 == 0 ? other : MPI_COMM_WORLD);
        receive(TAG, MPI_COMM_WORLD);
    }
    return seen;
}

/* Its bytes come later. */
static bool iprobe_large(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    bool seen = true;

    if (SENDS)
        MUST(MPI_Isend(large, LARGE, MPI_BYTE, asker, TAG, MPI_COMM_WORLD, &request));
    collective();
    if (ASKS) {
        seen = look(0, TAG, MPI_COMM_WORLD);
        receive(TAG, MPI_COMM_WORLD);
    }
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return seen;
}

static bool improbe(void)
{
    MPI_Message message;
    int seen = 1;

    if (SENDS)
        send(8, TAG, MPI_COMM_WORLD);
    collective();
    if (!ASKS)
        return true;
    MUST(MPI_Improbe(0, TAG, MPI_COMM_WORLD, &seen, &message, MPI_STATUS_IGNORE));
    if (seen)
        MUST(MPI_Mrecv(large, 8, MPI_BYTE, &message, MPI_STATUS_IGNORE));
    else
        receive(TAG, MPI_COMM_WORLD);
    return seen;
}

/* ---- requests ---- */

static MPI_Request requests[FEW];

/* The last that is posted is sent first. */
static void exchange_few(void)
{
    for (int i = 0; ASKS && i < FEW; i++)
        MUST(MPI_Irecv(large + i, 1, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]));
    for (int i = FEW - 1; SENDS && i >= 0; i--)
        send(1, i, MPI_COMM_WORLD);
    collective();
}

static bool end_few(bool seen)
{
    for (int i = 0; ASKS && i < FEW; i++)
        MUST(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    return seen;
}

static bool test(void)
{
    int flag = 1;

    exchange_few();
    if (ASKS)
        MUST(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    return end_few(flag);
}

static bool testall(void)
{
    int flag = 1;

    exchange_few();
    if (ASKS)
        MUST(MPI_Testall(FEW, requests, &flag, statuses));
    return end_few(flag);
}

static bool testany(void)
{
    int flag = 1, index = 0;

    exchange_few();
    if (ASKS)
        MUST(MPI_Testany(FEW, requests, &index, &flag, MPI_STATUS_IGNORE));
    return end_few(flag && index == 0);
}

static bool testsome(void)
{
    int done = FEW, indices[FEW];

    exchange_few();
    if (ASKS)
        MUST(MPI_Testsome(FEW, requests, &done, indices, statuses));
    return end_few(done == FEW);
}

static bool waitany(void)
{
    int index = 0;

    exchange_few();
    if (ASKS)
        MUST(MPI_Waitany(FEW, requests, &index, MPI_STATUS_IGNORE));
    return end_few(index == 0);
}

static bool waitsome(void)
{
    int done = FEW, indices[FEW];

    exchange_few();
    if (ASKS)
        MUST(MPI_Waitsome(FEW, requests, &done, indices, statuses));
    return end_few(done == FEW);
}

static bool get_status(void)
{
    int flag = 1;

    exchange_few();
    if (ASKS)
        MUST(MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE));
    return end_few(flag);
}

/* A receive whose message has come is not cancelled. */
static bool cancel(void)
{
    MPI_Request request;
    MPI_Status status;
    int cancelled = 0;

    if (ASKS)
        MUST(MPI_Irecv(large, 8, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request));
    if (SENDS)
        send(8, TAG, MPI_COMM_WORLD);
    collective();
    if (!ASKS)
        return true;
    MUST(MPI_Cancel(&request));
    MUST(MPI_Wait(&request, &status));
    MUST(MPI_Test_cancelled(&status, &cancelled));
    if (cancelled)
        receive(TAG, MPI_COMM_WORLD);
    return !cancelled;
}

/* The whole message has been sent. */
static bool test_large(void)
{
    MPI_Request request;
    int flag = 1;

    if (ASKS)
        MUST(MPI_Irecv(large, LARGE, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request));
    if (SENDS)
        send(LARGE, TAG, MPI_COMM_WORLD);
    collective();
    if (ASKS) {
        MUST(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    return flag;
}

/* The asking rank tests its own synchronous send, which the other rank has received. */
static bool synchronous(void)
{
    MPI_Request request;
    int flag = 1;

    if (ASKS)
        MUST(MPI_Issend(large, 8, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request));
    if (SENDS)
        MUST(MPI_Recv(large, 8, MPI_BYTE, asker, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    collective();
    if (ASKS) {
        MUST(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    return flag;
}

static bool persistent(void)
{
    static MPI_Request request = MPI_REQUEST_NULL;
    int flag = 1;

    if (ASKS && request == MPI_REQUEST_NULL)
        MUST(MPI_Recv_init(large, 8, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request));
    if (ASKS)
        MUST(MPI_Start(&request));
    if (SENDS)
        send(8, TAG, MPI_COMM_WORLD);
    collective();
    if (ASKS) {
        MUST(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    return flag;
}

/* ---- windows ---- */

static MPI_Win window;
static int shown;

static MPI_Group group_of(int one)
{
    MPI_Group world, group;

    MUST(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MUST(MPI_Group_incl(world, 1, &one, &group));
    MUST(MPI_Group_free(&world));
    return group;
}

static bool win_test(void)
{
    MPI_Group group = group_of(ASKS ? 0 : asker);
    int value = 1, flag = 1;

    if (ASKS)
        MUST(MPI_Win_post(group, 0, window));
    if (SENDS) {
        MUST(MPI_Win_start(group, 0, window));
        MUST(MPI_Put(&value, 1, MPI_INT, asker, 0, 1, MPI_INT, window));
        MUST(MPI_Win_complete(window));
    }
    collective();
    if (ASKS)
        MUST(MPI_Win_test(window, &flag));
    if (!flag)
        MUST(MPI_Win_wait(window));
    MUST(MPI_Group_free(&group));
    return flag;
}

/* Flushed data are in the window's memory. */
static bool win_flush(void)
{
    int value = 7;

    if (ASKS)
        shown = 0;
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_Win_lock_all(0, window));
    if (SENDS) {
        MUST(MPI_Accumulate(&value, 1, MPI_INT, asker, 0, 1, MPI_INT, MPI_SUM, window));
        MUST(MPI_Win_flush(asker, window));
    }
    collective();
    MUST(MPI_Win_sync(window));
    value = shown;
    MUST(MPI_Win_unlock_all(window));
    return !ASKS || value == 7;
}

/* ---- threads ---- */

static void *look_too(void *seen)
{
    *(bool *)seen = look(0, TAG, other);
    return NULL;
}

/* Two threads ask at the same time. */
static bool askers(void)
{
    bool seen = true, seen_too = true;
    pthread_t thread;

    if (SENDS) {
        for (int i = 0; i < MANY / 2; i++)
            send(8, OTHER_TAG, MPI_COMM_WORLD);
        send(8, TAG, MPI_COMM_WORLD);
        send(8, TAG, other);
    }
    collective();
    if (ASKS) {
        REQUIRE(pthread_create(&thread, NULL, look_too, &seen_too) == 0);
        seen = look(0, TAG, MPI_COMM_WORLD);
        REQUIRE(pthread_join(thread, NULL) == 0);
        for (int i = 0; i < MANY / 2; i++)
            receive(OTHER_TAG, MPI_COMM_WORLD);
        receive(TAG, MPI_COMM_WORLD);
        receive(TAG, other);
    }
    return seen && seen_too;
}

static const struct {
    const char *name;
    bool (*run)(void);
} cases[] = {
    {"iprobe", iprobe},
    {"iprobe_any", iprobe_any},
    {"iprobe_other", iprobe_other},
    {"iprobe_many", iprobe_many},
    {"iprobe_large", iprobe_large},
    {"improbe", improbe},
    {"test", test},
    {"testall", testall},
    {"testany", testany},
    {"testsome", testsome},
    {"waitany", waitany},
    {"waitsome", waitsome},
    {"get_status", get_status},
    {"cancel", cancel},
    {"test_large", test_large},
    {"synchronous", synchronous},
    {"persistent", persistent},
    {"win_test", win_test},
    {"win_flush", win_flush},
    {"askers", askers},
};

static void find_operation(const char *name)
{
    collective = NULL;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (strcmp(operations[i].name, name) == 0)
            collective = operations[i].run;
    }
    REQUIRE(collective != NULL);
}

/* Asks in the named case, or in all; returns whether every round found all. */
static bool run_cases(const char *operation, int rounds, const char *only)
{
    bool always = true;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int seen = 0;

        if ((only != NULL && strcmp(only, cases[i].name) != 0) ||
            (cases[i].run == askers && !has_threads))
            continue;
        for (int round = 0; round < rounds; round++) {
            seen += cases[i].run();
            MUST(MPI_Barrier(MPI_COMM_WORLD));
        }
        if (ASKS && seen < rounds)
            printf("%s, %s: %d of %d\n", operation, cases[i].name, seen, rounds);
        always = always && seen == rounds;
    }
    return always;
}

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[2]) : 0, provided;
    bool always = true;

    REQUIRE(rounds > 0);
    has_threads = strcmp(argv[1], "threads") == 0;
    MUST(MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                         &provided));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &size));
    asker = size - 1;
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    MUST(
        MPI_Win_create(&shown, sizeof shown, sizeof shown, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    MUST(MPI_Barrier(MPI_COMM_WORLD)); /* sets the communicator up */
    for (char *name = strtok(argv[1], ","); name != NULL; name = strtok(NULL, ",")) {
        find_operation(name);
        always = run_cases(name, rounds, argc > 3 ? argv[3] : NULL) && always;
    }
    if (ASKS)
        printf("found %s\n", always ? "always" : "not always");
    MUST(MPI_Win_free(&window));
    MUST(MPI_Comm_free(&other));
    MUST(MPI_Finalize());
    return 0;
}
