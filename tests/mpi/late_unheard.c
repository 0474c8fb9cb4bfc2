/* Late contributions are handled while their receiver computes even if the library's handler never
 * gets the signal.
 *
 *     late_unheard WAY FILE ROUNDS
 *
 *   exits       the thread that made the call has ended when the leaf comes
 *   blocked     all threads have all signals blocked from the start; one waits for them
 *   blocks      the thread blocks the signal when it has left its call
 *   waits       ... and takes what comes by sigtimedwait
 *   signalfd    ... and by a descriptor
 *   takes       it installs a handler of its own when it has left its call
 *   ignores     it ignores the signal when it has left its call
 *   ignored     it has ignored the signal from the start
 */
#include "late.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>

#define SIGNAL 42 /* STAGGER_SIGNAL's default */

static int mine, sum;

static void reduce(void)
{
    MUST(MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
}

static void *reduce_and_exit(void *context)
{
    reduce();
    return context;
}

static void in_thread(void)
{
    pthread_t thread;

    REQUIRE(pthread_create(&thread, NULL, reduce_and_exit, NULL) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
}

/* ---- what the parent does while the leaf comes ----------------------------------------------- */

static sigset_t the_signal(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGNAL);
    return set;
}

static void block(int round)
{
    sigset_t set = the_signal();

    REQUIRE(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    late_compute(round);
    REQUIRE(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
}

static void wait_for_signals(int round)
{
    const struct timespec a_moment = {.tv_nsec = 1000000};
    sigset_t all, before;

    sigfillset(&all);
    REQUIRE(pthread_sigmask(SIG_BLOCK, &all, &before) == 0);
    atomic_store(&late->free, round + 1);
    while (atomic_load(&late->result) <= round)
        REQUIRE(sigtimedwait(&all, NULL, &a_moment) == SIGNAL || errno == EAGAIN);
    REQUIRE(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
}

static void read_signals(int round)
{
    sigset_t set = the_signal();
    struct signalfd_siginfo info;
    int descriptor = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);

    REQUIRE(descriptor >= 0 && pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    atomic_store(&late->free, round + 1);
    while (atomic_load(&late->result) <= round) {
        REQUIRE(read(descriptor, &info, sizeof info) == sizeof info || errno == EAGAIN);
        sched_yield();
    }
    REQUIRE(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0 && close(descriptor) == 0);
}

static void nothing(int number)
{
}

static void take(int round)
{
    REQUIRE(signal(SIGNAL, nothing) != SIG_ERR);
    late_compute(round);
}

static void ignore(int round)
{
    REQUIRE(signal(SIGNAL, SIG_IGN) != SIG_ERR);
    late_compute(round);
}

/* ---- */

static void *swallow(void *context)
{
    sigset_t all;
    int number;

    sigfillset(&all);
    while (sigwait(&all, &number) == 0 && number != SIGUSR1)
        ;
    return context;
}

static const struct way {
    const char *name;
    void (*call)(void);
    void (*compute)(int round);
} ways[] = {
    {"exits", in_thread, late_compute}, {"blocked", reduce, late_compute},
    {"blocks", reduce, block},          {"waits", reduce, wait_for_signals},
    {"signalfd", reduce, read_signals}, {"takes", reduce, take},
    {"ignores", reduce, ignore},        {"ignored", reduce, late_compute},
};

int main(int argc, char **argv)
{
    const struct way *way = ways;
    pthread_t swallower;
    sigset_t all;
    int provided;

    REQUIRE(argc == 4);
    while (strcmp(way->name, argv[1]) != 0)
        REQUIRE(++way < ways + sizeof ways / sizeof *ways);
    bool is_blocked = strcmp(way->name, "blocked") == 0;
    sigfillset(&all);
    if (is_blocked) {
        REQUIRE(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0);
        REQUIRE(pthread_create(&swallower, NULL, swallow, NULL) == 0);
    }
    if (strcmp(way->name, "ignored") == 0)
        REQUIRE(signal(SIGNAL, SIG_IGN) != SIG_ERR);
    MUST(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided));
    REQUIRE(provided >= MPI_THREAD_SERIALIZED);
    late_start(argv[2]);
    for (int round = 0; round < atoi(argv[3]); round++) {
        mine = round * 10 + late_rank;
        late_begin(round, 0);
        way->call();
        late_end(round, 0, way->compute);
        REQUIRE(late_place(0) != LATE_ROOT || sum == LATE_RANKS * round * 10 + 6);
        MUST(MPI_Barrier(MPI_COMM_WORLD));
    }
    if (is_blocked)
        REQUIRE(pthread_kill(swallower, SIGUSR1) == 0 && pthread_join(swallower, NULL) == 0);
    MUST(MPI_Finalize());
    if (late_rank == 0)
        printf("finished\n");
    return 0;
}
