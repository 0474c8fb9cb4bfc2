/* Nonblocking collectives as programs use them:
 *
 *     posts CASE...
 *
 * Every result is checked; sums are of small integers, and so exact in any order. A rank that
 * reaches the end prints "finished". The cases are in the table below.
 */
#include "mpi_test.h"

#include <pthread.h>
#include <sched.h>

#define COUNT 16
#define NONBLOCKING 50
#define BEYOND 6000 /* further than choices by call site are kept */
/* More than fits into one chunk. */
#define LARGE 1000

static int rank, ranks;
/* Out of the compiler's sight, which takes it for an array of no length. */
static MPI_Status *volatile ignored = MPI_STATUSES_IGNORE;

struct posted {
    int number, root;
    double mine[COUNT], sum[COUNT];
    MPI_Request request;
};

static double operand(int of, int number, int i)
{
    return 100 * number + (of + 1) * (i + 1);
}

static double total(int number, int i)
{
    return 100.0 * number * ranks + ranks * (ranks + 1) / 2 * (i + 1);
}

static void fill(struct posted *posted, int number)
{
    posted->number = number;
    posted->root = number % ranks;
    for (int i = 0; i < COUNT; i++) {
        posted->mine[i] = operand(rank, number, i);
        posted->sum[i] = -1;
    }
}

static void post_allreduce(struct posted *posted, int number, MPI_Comm comm)
{
    fill(posted, number);
    MUST(MPI_Iallreduce(posted->mine, posted->sum, COUNT, MPI_DOUBLE, MPI_SUM, comm,
                        &posted->request));
}

static void post_reduce(struct posted *posted, int number, MPI_Comm comm)
{
    fill(posted, number);
    MUST(MPI_Ireduce(posted->mine, posted->sum, COUNT, MPI_DOUBLE, MPI_SUM, posted->root, comm,
                     &posted->request));
}

static void check_sum(const struct posted *posted)
{
    for (int i = 0; i < COUNT; i++)
        REQUIRE(posted->sum[i] == total(posted->number, i));
}

static void check_reduced(const struct posted *posted)
{
    if (posted->root == rank)
        check_sum(posted);
    else
        REQUIRE(posted->sum[0] == -1 && posted->sum[COUNT - 1] == -1);
}

/* ---- the cases ---- */

static void wait_for_each(void)
{
    struct posted posted;
    MPI_Request request;

    for (int number = 0; number < NONBLOCKING; number++) {
        post_allreduce(&posted, number, MPI_COMM_WORLD);
        MUST(MPI_Wait(&posted.request, MPI_STATUS_IGNORE));
        REQUIRE(posted.request == MPI_REQUEST_NULL);
        check_sum(&posted);
        post_reduce(&posted, number, MPI_COMM_WORLD);
        MUST(MPI_Wait(&posted.request, MPI_STATUS_IGNORE));
        check_reduced(&posted);
        MUST(MPI_Ibarrier(MPI_COMM_WORLD, &request));
        MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

static void test_until_done(void)
{
    struct posted posted;
    MPI_Status wait_status;
    int flag = 0, cancelled, elements;

    for (int number = 0; number < NONBLOCKING; number++) {
        post_allreduce(&posted, number, MPI_COMM_WORLD);
        for (flag = 0; !flag;)
            MUST(MPI_Request_get_status(posted.request, &flag, &wait_status));
        check_sum(&posted);
        MUST(MPI_Test_cancelled(&wait_status, &cancelled));
        MUST(MPI_Get_elements(&wait_status, MPI_BYTE, &elements));
        REQUIRE(!cancelled && elements == 0);
        MUST(MPI_Test(&posted.request, &flag, &wait_status));
        REQUIRE(flag && posted.request == MPI_REQUEST_NULL);
        post_reduce(&posted, number, MPI_COMM_WORLD);
        for (flag = 0; !flag;)
            MUST(MPI_Test(&posted.request, &flag, MPI_STATUS_IGNORE));
        check_reduced(&posted);
    }
}

/* Several at once, among messages, completed by every call that MPI has for it. */
static void mixed(void)
{
    enum { ALL, ANY, SOME, TEST_ALL, TEST_ANY, TEST_SOME, WAYS };
    struct posted posted[3];
    const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;

    for (int way = 0; way < WAYS * 4; way++) {
        MPI_Request requests[6];
        MPI_Status statuses[6];
        int sent = 1000 * rank + way, received = -1, left = 6, indices[6];

        MUST(MPI_Irecv(&received, 1, MPI_INT, from, way, MPI_COMM_WORLD, &requests[0]));
        post_allreduce(&posted[0], way, MPI_COMM_WORLD);
        requests[1] = posted[0].request;
        post_reduce(&posted[1], way, MPI_COMM_WORLD);
        requests[2] = posted[1].request;
        MUST(MPI_Isend(&sent, 1, MPI_INT, to, way, MPI_COMM_WORLD, &requests[3]));
        MUST(MPI_Ibarrier(MPI_COMM_WORLD, &requests[4]));
        post_allreduce(&posted[2], way + 1, MPI_COMM_WORLD);
        requests[5] = posted[2].request;
        while (left > 0) {
            int count = 1, flag = 0;

            switch (way % WAYS) {
            case ALL:
                MUST(MPI_Waitall(6, requests, statuses));
                count = 6;
                break;
            case ANY:
                MUST(MPI_Waitany(6, requests, indices, statuses));
                break;
            case SOME:
                MUST(MPI_Waitsome(6, requests, &count, indices, statuses));
                break;
            case TEST_ALL:
                MUST(MPI_Testall(6, requests, &flag, ignored));
                count = flag ? 6 : 0;
                break;
            case TEST_ANY:
                MUST(MPI_Testany(6, requests, indices, &flag, MPI_STATUS_IGNORE));
                count = flag;
                break;
            default:
                MUST(MPI_Testsome(6, requests, &count, indices, ignored));
            }
            left -= count;
        }
        for (int i = 0; i < 6; i++)
            REQUIRE(requests[i] == MPI_REQUEST_NULL);
        REQUIRE(received == 1000 * from + way);
        check_sum(&posted[0]);
        check_reduced(&posted[1]);
        check_sum(&posted[2]);
    }
}

/* While rank 0 waits for something else. */
static void ahead(int count)
{
    static struct posted posted[BEYOND];
    static MPI_Request requests[BEYOND];
    int word = 1;

    if (rank == ranks - 1) /* the others are ahead */
        MUST(MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int number = 0; number < count; number++) {
        if (number % 3 == 0)
            post_reduce(&posted[number], number, MPI_COMM_WORLD);
        else
            post_allreduce(&posted[number], number, MPI_COMM_WORLD);
        requests[number] = posted[number].request;
    }
    if (rank == 0 && ranks > 1) {
        MUST(MPI_Send(&word, 1, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD));
        /* From whom has completed all of them, in which this rank takes part. */
        MUST(MPI_Recv(&word, 1, MPI_INT, ranks - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    MUST(MPI_Waitall(count, requests, ignored));
    if (rank == ranks - 1 && rank > 0)
        MUST(MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    for (int number = 0; number < count; number++) {
        if (number % 3 == 0)
            check_reduced(&posted[number]);
        else
            check_sum(&posted[number]);
    }
}

/* More than there are places. */
static void many_ahead(void)
{
    ahead(NONBLOCKING);
}

static void few_ahead(void)
{
    ahead(12);
}

/* The last rank comes when rank 0 has posted all of them, which so must not wait for it. */
static void beyond(void)
{
    ahead(BEYOND);
}

/* Blocking calls behind posts that are not completed. */
static void among_blocking(void)
{
    static struct posted posted[12];
    struct posted blocking;

    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 12; i++) {
            if (i % 2)
                post_reduce(&posted[i], round + i, MPI_COMM_WORLD);
            else
                post_allreduce(&posted[i], round + i, MPI_COMM_WORLD);
            if (i % 3 == 0) {
                fill(&blocking, round);
                MUST(MPI_Allreduce(blocking.mine, blocking.sum, COUNT, MPI_DOUBLE, MPI_SUM,
                                   MPI_COMM_WORLD));
                check_sum(&blocking);
            } else if (i % 3 == 1) {
                fill(&blocking, round);
                MUST(MPI_Reduce(blocking.mine, blocking.sum, COUNT, MPI_DOUBLE, MPI_SUM,
                                blocking.root, MPI_COMM_WORLD));
                check_reduced(&blocking);
            } else {
                MUST(MPI_Barrier(MPI_COMM_WORLD));
            }
        }
        for (int i = 11; i >= 0; i--) {
            MUST(MPI_Wait(&posted[i].request, MPI_STATUS_IGNORE));
            if (i % 2)
                check_reduced(&posted[i]);
            else
                check_sum(&posted[i]);
        }
    }
}

/* Communicators that are freed before their requests are completed. */
static void freed_communicators(void)
{
    for (int round = 0; round < 20; round++) {
        struct posted posted[3];
        MPI_Comm comm;

        MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        /* The first passes: nobody has set the communicator up. */
        post_allreduce(&posted[0], round, comm);
        MUST(MPI_Barrier(comm));
        post_allreduce(&posted[1], round + 1, comm);
        post_reduce(&posted[2], round + 2, comm);
        MUST(MPI_Comm_free(&comm));
        for (int i = 0; i < 3; i++)
            MUST(MPI_Wait(&posted[i].request, MPI_STATUS_IGNORE));
        check_sum(&posted[0]);
        check_sum(&posted[1]);
        check_reduced(&posted[2]);
    }
}

/* Requests that nobody waits for. */
static void freed_requests(void)
{
    static struct posted posted[NONBLOCKING];

    for (int number = 0; number < NONBLOCKING; number++) {
        if (number % 2)
            post_reduce(&posted[number], number, MPI_COMM_WORLD);
        else
            post_allreduce(&posted[number], number, MPI_COMM_WORLD);
        MUST(MPI_Request_free(&posted[number].request));
        REQUIRE(posted[number].request == MPI_REQUEST_NULL);
    }
    /* A collective behind them all, on the same communicator. */
    MUST(MPI_Barrier(MPI_COMM_WORLD));
}

static void large(void)
{
    static double mine[LARGE], sum[LARGE], in_place[LARGE];
    MPI_Request requests[3];

    for (int round = 0; round < 5; round++) {
        const int root = round % ranks;

        for (int i = 0; i < LARGE; i++) {
            mine[i] = in_place[i] = operand(rank, round, i);
            sum[i] = -1;
        }
        MUST(MPI_Iallreduce(MPI_IN_PLACE, in_place, LARGE, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                            &requests[0]));
        MUST(MPI_Ireduce(mine, rank == root ? sum : NULL, LARGE, MPI_DOUBLE, MPI_SUM, root,
                         MPI_COMM_WORLD, &requests[1]));
        MUST(MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]));
        MUST(MPI_Waitall(3, requests, ignored));
        for (int i = 0; i < LARGE; i++) {
            REQUIRE(in_place[i] == total(round, i));
            REQUIRE(sum[i] == (rank == root ? total(round, i) : -1));
        }
    }
}

/* The forms with counts of MPI_Count. */
static void large_counts(void)
{
    struct posted posted[2];
    MPI_Request requests[2];

    for (int number = 0; number < NONBLOCKING; number++) {
        fill(&posted[0], number);
        fill(&posted[1], number + 1);
        MUST(MPI_Iallreduce_c(posted[0].mine, posted[0].sum, COUNT, MPI_DOUBLE, MPI_SUM,
                              MPI_COMM_WORLD, &requests[0]));
        MUST(MPI_Ireduce_c(posted[1].mine, posted[1].sum, COUNT, MPI_DOUBLE, MPI_SUM,
                           posted[1].root, MPI_COMM_WORLD, &requests[1]));
        MUST(MPI_Waitall(2, requests, ignored));
        check_sum(&posted[0]);
        check_reduced(&posted[1]);
    }
}

/* Arguments that are wrong are MPICH's to tell, and nothing is started. */
static void errors(void)
{
    double mine[COUNT] = {0}, sum[COUNT];
    MPI_Request request = MPI_REQUEST_NULL;

    MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    REQUIRE(MPI_Iallreduce(mine, sum, -1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request) !=
            MPI_SUCCESS);
    REQUIRE(MPI_Ireduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, ranks, MPI_COMM_WORLD, &request) !=
            MPI_SUCCESS);
    REQUIRE(MPI_Iallreduce(mine, sum, COUNT, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD,
                           &request) != MPI_SUCCESS);
    MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    wait_for_each();
}

static void *in_thread(void *context)
{
    const MPI_Comm comm = *(MPI_Comm *)context;
    struct posted posted[4];

    for (int round = 0; round < 25; round++) {
        MPI_Request requests[4];

        for (int i = 0; i < 4; i++) {
            if (i % 2)
                post_reduce(&posted[i], round + i, comm);
            else
                post_allreduce(&posted[i], round + i, comm);
            requests[i] = posted[i].request;
        }
        if (round % 2) {
            MUST(MPI_Waitall(4, requests, ignored));
        } else {
            for (int i = 3; i >= 0; i--)
                MUST(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        }
        for (int i = 0; i < 4; i++) {
            if (i % 2)
                check_reduced(&posted[i]);
            else
                check_sum(&posted[i]);
        }
    }
    return NULL;
}

/* Threads with a communicator each. */
static void threads(void)
{
    pthread_t others[2];
    MPI_Comm comms[3];

    for (int i = 0; i < 3; i++) {
        MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
        MUST(MPI_Barrier(comms[i]));
    }
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_create(&others[i], NULL, in_thread, &comms[i]) == 0);
    in_thread(&comms[2]);
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_join(others[i], NULL) == 0);
    for (int i = 0; i < 3; i++)
        MUST(MPI_Comm_free(&comms[i]));
}

/* Operations for a thread to complete: a ring written by the poster and read by the thread. */
struct completer {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool tests; /* by MPI_Test, not by MPI_Wait */
    int given;
    struct posted posted[NONBLOCKING];
};

static void *complete_given(void *context)
{
    struct completer *completer = context;

    for (int i = 0; i < NONBLOCKING; i++) {
        struct posted *posted = &completer->posted[i];
        int done = 0;

        pthread_mutex_lock(&completer->lock);
        while (completer->given <= i)
            pthread_cond_wait(&completer->changed, &completer->lock);
        pthread_mutex_unlock(&completer->lock);
        while (completer->tests && !done)
            MUST(MPI_Test(&posted->request, &done, MPI_STATUS_IGNORE));
        if (!completer->tests)
            MUST(MPI_Wait(&posted->request, MPI_STATUS_IGNORE));
        if (i % 2)
            check_reduced(posted);
        else
            check_sum(posted);
    }
    return NULL;
}

/* One thread posts, on one communicator; two others complete, while it goes on. */
static void handed(void)
{
    static struct completer completers[2];

    for (int i = 0; i < 2; i++) {
        pthread_mutex_init(&completers[i].lock, NULL);
        pthread_cond_init(&completers[i].changed, NULL);
        completers[i].tests = i == 0;
        REQUIRE(pthread_create(&completers[i].thread, NULL, complete_given, &completers[i]) == 0);
    }
    for (int i = 0; i < 2 * NONBLOCKING; i++) {
        struct completer *completer = &completers[i % 2];
        struct posted *posted = &completer->posted[i / 2];

        if (i / 2 % 2)
            post_reduce(posted, i, MPI_COMM_WORLD);
        else
            post_allreduce(posted, i, MPI_COMM_WORLD);
        pthread_mutex_lock(&completer->lock);
        completer->given++;
        pthread_cond_signal(&completer->changed);
        pthread_mutex_unlock(&completer->lock);
    }
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_join(completers[i].thread, NULL) == 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"wait", wait_for_each},
    {"test", test_until_done},
    {"mixed", mixed},
    {"ahead", many_ahead},
    {"few-ahead", few_ahead},
    {"beyond", beyond},
    {"blocking", among_blocking},
    {"freed-communicators", freed_communicators},
    {"freed-requests", freed_requests},
    {"large", large},
    {"large-counts", large_counts},
    {"errors", errors},
    {"threads", threads},
    {"handed", handed},
};

int main(int argc, char **argv)
{
    int provided, found = 0;

    MUST(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    REQUIRE(provided == MPI_THREAD_MULTIPLE);
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    for (int i = 1; i < argc; i++) {
        for (size_t j = 0; j < sizeof cases / sizeof *cases; j++) {
            if (strcmp(cases[j].name, argv[i]) == 0) {
                cases[j].run();
                found++;
            }
        }
    }
    REQUIRE(found > 0 && found == argc - 1);
    MUST(MPI_Finalize());
    printf("finished\n");
    fflush(stdout);
    return 0;
}
