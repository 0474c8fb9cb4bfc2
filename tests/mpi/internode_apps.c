/* Does what applications do beside reductions: signals, timers, sleep, read, epoll_wait, system()
 * and OpenMP. Checks that all of it works and every result is right.
 *
 *     internode_apps ROUNDS
 *
 * Calls cut short by a signal (EINTR) are repeated, as a tolerant application does. Ranks do
 * different things in a round, so that they enter the reductions at different times.
 */
#include "mpi_test.h"

#include <errno.h>
#include <omp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/wait.h>

#define COUNT 40
#define BYTES 4096

static int rank, ranks;
static int ends[2];
static volatile sig_atomic_t own_signals, ticks;

static void on_own(int signal)
{
    own_signals++;
}

static void on_tick(int signal)
{
    ticks++;
}

static void handle(int signal, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

    REQUIRE(sigaction(signal, &action, NULL) == 0);
}

static void do_signals(void)
{
    int before = own_signals;

    REQUIRE(raise(SIGUSR1) == 0);
    REQUIRE(own_signals == before + 1);
}

/* As long as it says, however often it is woken. */
static void do_sleep(void)
{
    struct timespec rest = {0, 2000000}, begin, end;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    while (nanosleep(&rest, &rest) != 0)
        REQUIRE(errno == EINTR);
    clock_gettime(CLOCK_MONOTONIC, &end);
    REQUIRE((end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec >= 2000000);
}

static void do_read(int round)
{
    unsigned char out[BYTES], in[BYTES];
    size_t got = 0;

    memset(out, round & 0xff, sizeof out);
    REQUIRE(write(ends[1], out, sizeof out) == BYTES);
    while (got < sizeof in) {
        ssize_t bytes = read(ends[0], in + got, sizeof in - got);

        REQUIRE(bytes > 0 || (bytes < 0 && errno == EINTR));
        got += bytes > 0 ? (size_t)bytes : 0;
    }
    REQUIRE(memcmp(in, out, sizeof in) == 0);
}

static void do_epoll(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int poller = epoll_create1(0), found;

    REQUIRE(poller >= 0 && epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &event) == 0);
    do
        found = epoll_wait(poller, &event, 1, 1); /* less than between two ticks */
    while (found < 0 && errno == EINTR);
    REQUIRE(found == 0);
    REQUIRE(close(poller) == 0);
}

static void do_system(void)
{
    int status = system("exit 3");

    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

static void do_openmp(int round)
{
    uint64_t sum = 0;

#pragma omp parallel for num_threads(3) reduction(+ : sum)
    for (int i = 0; i < 30000; i++)
        sum += (uint64_t)(i ^ round);
    for (int i = 0; i < 30000; i++)
        sum -= (uint64_t)(i ^ round);
    REQUIRE(sum == 0);
}

static void work(int round)
{
    switch ((round + rank) % 6) {
    case 0:
        do_signals();
        break;
    case 1:
        do_sleep();
        break;
    case 2:
        do_read(round);
        break;
    case 3:
        do_epoll();
        break;
    case 4:
        do_openmp(round);
        break;
    default:
        if (round % 4 == 0)
            do_system();
    }
}

static void collect(int round)
{
    double mine[COUNT], sum[COUNT];
    int root = round / 5 % ranks;

    for (int i = 0; i < COUNT; i++)
        mine[i] = rank + i + round;
    if (round % 5 == 4)
        MUST(MPI_Allreduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    else
        MUST(MPI_Reduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD));
    for (int i = 0; i < COUNT && (round % 5 == 4 || rank == root); i++)
        REQUIRE(sum[i] == ranks * (ranks - 1) / 2.0 + ranks * (i + round));
    if (round % 20 == 19)
        MUST(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    struct itimerval timer = {{0, 1500}, {0, 1500}}, none = {{0, 0}, {0, 0}};

    REQUIRE(argc == 2);
    REQUIRE(pipe(ends) == 0);
    handle(SIGUSR1, on_own);
    START(rank, ranks);
    handle(SIGALRM, on_tick);
    REQUIRE(setitimer(ITIMER_REAL, &timer, NULL) == 0);
    MUST(MPI_Barrier(MPI_COMM_WORLD)); /* the first is MPICH's own */
    for (int round = 0; round < atoi(argv[1]); round++) {
        work(round);
        collect(round);
    }
    REQUIRE(setitimer(ITIMER_REAL, &none, NULL) == 0);
    MUST(MPI_Finalize());
    REQUIRE(ticks > 0);
    printf("rank %d finished\n", rank);
    return 0;
}
