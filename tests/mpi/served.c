/* Counts rank 0's sleeps in a call of the library's while rank 1 works with it by one-sided
 * operations or messages, each of which needs rank 0.
 *
 *     served CALL...
 *
 * Calls are those of the table below. In a round rank 1 makes OPERATIONS operations while rank 0 is
 * in the call. When others occupy the processors, rank 0 may sleep for unrelated reasons, so one
 * round with few sleeps is enough. If none of ROUNDS is such, the line has the least number of
 * sleeps:
 *
 *     CALL KIND served
 *     CALL KIND sleeps=N
 */
#include "mpi_test.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>

enum { ROUNDS = 30000, OPERATIONS = 100, FEW = OPERATIONS / 5 };

static int rank;
static long operations, sleeps;
/* MPICH 4.0.2 over UCX counts in another word where a window does not begin at a multiple of 64. */
static _Alignas(64) long counter[8];
static MPI_Win window;

/* In the place of the C library's, as is nanosleep: the library sleeps on futexes by it. */
long syscall(long number, ...)
{
    long (*next)(long, long, long, long, long, long, long);
    long words[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        words[i] = va_arg(list, long);
    va_end(list);
    sleeps += number == SYS_futex && (words[1] & 127) == 0;
    *(void **)&next = dlsym(RTLD_NEXT, "syscall");
    return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    sleeps++;
    return (int)syscall(SYS_nanosleep, time, left, 0, 0, 0, 0);
}

/* ---- calls that rank 0 waits in ---- */

static void barrier(void)
{
    MUST(MPI_Barrier(MPI_COMM_WORLD));
}

static void allreduce(void)
{
    double one = 1, sum = 0;

    MUST(MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    REQUIRE(sum == 2);
}

static void reduce(void)
{
    double one = 1, sum = 2;

    MUST(MPI_Reduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
    REQUIRE(sum == 2);
}

static void bcast(void)
{
    int word = rank;

    MUST(MPI_Bcast(&word, 1, MPI_INT, 1, MPI_COMM_WORLD));
    REQUIRE(word == 1);
}

static void ibarrier(void)
{
    MPI_Request request;

    MUST(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void waitall(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];

    MUST(MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]));
    MUST(MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]));
    MUST(MPI_Waitall(2, requests, statuses));
}

static void recv(void)
{
    if (rank == 1)
        MUST(MPI_Send(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD));
    else
        MUST(MPI_Recv(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static const struct {
    const char *name;
    void (*call)(void);
} calls[] = {
    {"barrier", barrier},   {"allreduce", allreduce}, {"reduce", reduce}, {"bcast", bcast},
    {"ibarrier", ibarrier}, {"waitall", waitall},     {"recv", recv},
};

/* ---- what rank 1 does meanwhile ---- */

static void count_up(void)
{
    long one = 1, before = -1;

    for (int i = 0; i < OPERATIONS; i++) {
        MUST(MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, window));
        MUST(MPI_Win_flush(0, window));
        REQUIRE(before == operations + i);
    }
}

static void send(void)
{
    for (int i = 0; i < OPERATIONS; i++)
        MUST(MPI_Ssend(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
}

/* Rank 0's sleeps in the call. */
static long one_round(void (*call)(void), bool sends)
{
    static int words[OPERATIONS];
    static MPI_Request requests[OPERATIONS];
    static MPI_Status statuses[OPERATIONS];

    for (int i = 0; rank == 0 && sends && i < OPERATIONS; i++)
        MUST(MPI_Irecv(&words[i], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[i]));
    MUST(PMPI_Barrier(MPI_COMM_WORLD));
    long before = sleeps;
    if (rank == 1)
        (sends ? send : count_up)();
    operations += sends ? 0 : OPERATIONS;
    call();
    before = sleeps - before;
    if (rank == 0 && sends) {
        MUST(MPI_Waitall(OPERATIONS, requests, statuses));
        for (int i = 0; i < OPERATIONS; i++)
            REQUIRE(words[i] == i);
    }
    return before;
}

static void serve(const char *name, void (*call)(void), bool sends)
{
    long least = OPERATIONS, now;

    for (int i = 0; i < ROUNDS && least > FEW; i++) {
        now = one_round(call, sends);
        least = now < least ? now : least;
        MUST(PMPI_Bcast(&least, 1, MPI_LONG, 0, MPI_COMM_WORLD));
    }
    if (rank != 0)
        return;
    if (least <= FEW)
        printf("%s %s served\n", name, sends ? "messages" : "window");
    else
        printf("%s %s sleeps=%ld\n", name, sends ? "messages" : "window", least);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Win_create(counter, sizeof counter, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD,
                        &window));
    MUST(MPI_Win_lock_all(0, window));
    for (int i = 1; i < argc; i++) {
        for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
            if (strcmp(argv[i], calls[k].name) == 0) {
                serve(argv[i], calls[k].call, false);
                serve(argv[i], calls[k].call, true);
            }
        }
    }
    MUST(MPI_Win_unlock_all(window));
    REQUIRE(rank != 0 || counter[0] == operations);
    MUST(MPI_Win_free(&window));
    MUST(MPI_Finalize());
    return 0;
}
