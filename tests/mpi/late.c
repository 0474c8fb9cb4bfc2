/* Late contributions are handled while their receiver computes:
 *
 *     late WAY FILE ROUNDS
 *
 *   async     the root has its result before the parent's next MPI call
 *   blocked   the parent waits for a message of the root's meanwhile, in MPICH
 *   nobody    ... and has neither helper thread nor handler
 *   turns     rounds with a reduce in at_first() and rounds with one in at_second(), by turns
 *   both      a reduce in at_first(), then one in at_second(), before the leaf comes
 *   apart     likewise, in two communicators, while the signal is blocked
 *   queue     no process may have a signal queued
 *   own       the application has a handler for the signal before anything is late
 *   taken     ... and after some rounds, where it had none
 *   fork      a child of the parent's while it waits for the leaf
 *   paused    from half of the rounds on nothing is recorded
 *   thread    the helper thread comes with the first late message and takes no turn without one
 */
#include "late.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define SIGNAL 42 /* STAGGER_SIGNAL's default */

static volatile sig_atomic_t own_signals;

static void on_own_signal(int number)
{
    own_signals++;
}

static void take_signal(void)
{
    struct sigaction action = {.sa_handler = on_own_signal};

    REQUIRE(sigaction(SIGNAL, &action, NULL) == 0);
}

static void require_handler(int number, void (*handler)(int))
{
    struct sigaction now;

    REQUIRE(sigaction(number, NULL, &now) == 0 && now.sa_handler == handler);
}

static void mask_signal(int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGNAL);
    REQUIRE(sigprocmask(how, &set, NULL) == 0);
}

static void fill_queue(void)
{
    const struct rlimit none = {0, 0};
    const union sigval value = {.sival_int = 0};

    REQUIRE(setrlimit(RLIMIT_SIGPENDING, &none) == 0);
    REQUIRE(sigqueue(getpid(), SIGNAL, value) == -1 && errno == EAGAIN);
}

/* The helper thread's number; 0: there is none. */
static int helper(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    int found = 0;

    REQUIRE(tasks != NULL);
    while ((task = readdir(tasks)) != NULL) {
        char path[300], name[32] = "";

        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        if (fgets(name, sizeof name, file) != NULL && strcmp(name, "stagger\n") == 0)
            found = atoi(task->d_name);
        fclose(file);
    }
    closedir(tasks);
    return found;
}

/* Returns how often the helper thread has gone to sleep, once it is asleep. */
static long naps(int thread)
{
    char path[64], line[128];
    long count = -1;
    bool asleep;

    snprintf(path, sizeof path, "/proc/self/task/%d/status", thread);
    do {
        FILE *file = fopen(path, "r");

        REQUIRE(file != NULL);
        asleep = false;
        while (fgets(line, sizeof line, file) != NULL) {
            asleep = asleep || strncmp(line, "State:\tS", 8) == 0;
            sscanf(line, "voluntary_ctxt_switches: %ld", &count);
        }
        fclose(file);
    } while (!asleep || count == 0);
    return count;
}

static void compute(long steps)
{
    volatile double x = 1;

    for (long i = 0; i < steps; i++)
        x = x * 1.0000001;
}

/* Computes with nothing on its way, then with the leaf's. The helper may still have to come to its
 * rest, which takes it a few turns at most; one that looks now and then never does. */
static void compute_beside_thread(int round)
{
    int thread = helper();
    long before, after;
    int turns = 0;

    REQUIRE(thread != 0);
    do {
        REQUIRE(turns++ < 100);
        before = naps(thread);
        compute(50000000);
        after = naps(thread);
    } while (before != after);
    late_compute(round);
    /* Woken, it naps again; the kernel says that it sleeps a moment before it counts that. */
    while (naps(thread) == after)
        sched_yield();
}

static void compute_with_child(int round)
{
    pid_t child = fork();
    int status;

    REQUIRE(child >= 0);
    if (child == 0) {
        REQUIRE(helper() == 0);
        require_handler(SIGNAL, SIG_DFL);
        atomic_store(&late->free, round + 1);
        late_await(&late->result, round); /* by the parent: nothing of it is the child's */
        _exit(0);
    }
    late_await(&late->result, round);
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
}

static void await_root(int round)
{
    int told;

    MUST(MPI_Recv(&told, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    REQUIRE(told == round);
}

/* As late_compute, with a helper, if there is one, that rests when the leaf comes and afterwards:
 * one that has just been started or rung may look once more than it has to. */
static void compute_with_rest(int round)
{
    int thread = helper();

    if (thread != 0)
        naps(thread);
    late_compute(round);
    late_await(&late->sent, round); /* whom the leaf rings it has rung */
    if (thread != 0)
        naps(thread);
}

/* Two call sites; the second has a communicator to choose. */
static MPI_Comm second_comm = MPI_COMM_WORLD;

static __attribute__((noinline)) void at_first(const int *mine, int *sum)
{
    MUST(MPI_Reduce(mine, sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
}

static __attribute__((noinline)) void at_second(const int *mine, int *sum)
{
    MUST(MPI_Reduce(mine, sum, 1, MPI_INT, MPI_SUM, 0, second_comm));
}

static void two_sites_round(int round, bool first, bool second)
{
    const int mine = late_rank;
    int sums[2] = {6, 6};

    late_begin(round, 0);
    if (first)
        at_first(&mine, &sums[0]);
    if (second)
        at_second(&mine, &sums[1]);
    late_end(round, 0, compute_with_rest);
    REQUIRE(late_place(0) != LATE_ROOT || (sums[0] == 6 && sums[1] == 6));
    MUST(MPI_Barrier(MPI_COMM_WORLD));
}

static void turns_round(int round)
{
    two_sites_round(round, round % 2 == 0, round % 2 != 0);
}

static void both_round(int round)
{
    two_sites_round(round, true, true);
}

static void apart_round(int round)
{
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &second_comm));
    MUST(MPI_Barrier(second_comm));
    mask_signal(SIG_BLOCK);
    both_round(round);
    mask_signal(SIG_UNBLOCK);
    MUST(MPI_Comm_free(&second_comm));
}

/* The leaf comes when its parent, if that does not wait for it, has long been in MPI_Recv. */
static void blocked_round(int round)
{
    enum late_place place = late_place(0);
    int mine = late_rank, sum = -1;

    if (place == LATE_LEAF) {
        compute(10000000);
        atomic_store(&late->free, round + 1);
    }
    late_reduce(round, 0, &mine, &sum, MPI_INT, await_root);
    if (place == LATE_ROOT) {
        REQUIRE(sum == 6);
        MUST(MPI_Send(&round, 1, MPI_INT, LATE_PARENT, 0, MPI_COMM_WORLD));
    }
}

static void nobody_round(int round)
{
    blocked_round(round);
    REQUIRE(helper() == 0);
    require_handler(SIGNAL, SIG_DFL);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*compute)(int round); /* the parent's; NULL: the way has rounds of its own */
        void (*round)(int round);
    } ways[] = {{"async", late_compute, NULL},
                {"blocked", NULL, blocked_round},
                {"nobody", NULL, nobody_round},
                {"turns", NULL, turns_round},
                {"both", NULL, both_round},
                {"apart", NULL, apart_round},
                {"queue", late_compute, NULL},
                {"own", late_compute, NULL},
                {"taken", late_compute, NULL},
                {"fork", compute_with_child, NULL},
                {"thread", compute_beside_thread, NULL},
                {"paused", late_compute, NULL}};
    size_t chosen = 0;

    REQUIRE(argc == 4);
    const char *way = argv[1];
    int rounds = atoi(argv[3]);
    while (strcmp(ways[chosen].name, way) != 0)
        REQUIRE(++chosen < sizeof ways / sizeof *ways);
    if (strcmp(way, "own") == 0)
        take_signal();
    MUST(MPI_Init(&argc, &argv));
    REQUIRE(helper() == 0);
    late_start(argv[2]);
    if (strcmp(way, "queue") == 0)
        fill_queue();
    for (int round = 0; round < rounds; round++) {
        if (strcmp(way, "paused") == 0 && round == rounds / 2)
            MUST(MPI_Pcontrol(0));
        if (strcmp(way, "taken") == 0 && round == 2)
            take_signal();
        if (ways[chosen].compute != NULL)
            late_round(round, 0, ways[chosen].compute);
        else
            ways[chosen].round(round);
    }
    if (strcmp(way, "own") == 0 || strcmp(way, "taken") == 0)
        require_handler(SIGNAL, on_own_signal);
    /* One may have been on its way when the handler was installed. */
    REQUIRE(own_signals <= (strcmp(way, "taken") == 0));
    require_handler(SIGIO, SIG_DFL);
    MUST(MPI_Finalize());
    REQUIRE(helper() == 0);
    if (late_rank == 0)
        printf("finished\n");
    return 0;
}
