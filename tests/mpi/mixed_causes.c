/* Ranks that are late for known reasons, in known shares: mixed_causes ROUNDS FILE STEP... In each
 * round the ranks take the steps between two barriers, each its own, in order:
 *
 *   RANK:work:US    computes so many microseconds of its processor's time
 *   RANK:faults:US  touches pages that are not there, for as much of its processor's time
 *   RANK:sleep:US   sleeps
 *   RANK:hog:US     computes on a processor that a thread of its own computes on, too
 *   RANK:rival:US   computes on a processor that another process computes on, too
 *   RANK:held:US    computes, in a control group whose cpu.stat is FILE, and which has a quota
 *   RANK:read:N     reads FILE N times, past the kernel's cache
 *   RANK:inwork:US, insleep, inhog, inrival, inheld: the same as without `in`, in a call of MPI
 *                   that does not wait
 *   RANK>RANK       the first sends the second a message, which it receives
 *   or              what follows is another round's: rounds take turns
 *
 * For each kind of step that it took, each rank prints "RANK KIND CPU RUNNABLE REST KERNEL", in ns:
 * its time on a processor; its time waiting for one (hog: the hog thread's processor time; held:
 * the throttled time; 0 where the kernel does not report it); the rest; and, for faults, the
 * kernel's share of CPU, as measured for faults alone before the rounds. A reader of its trace
 * should find the same.
 */
#define _GNU_SOURCE
#include "mpi_test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define PAGES 64
#define BLOCK 65536
#define KINDS 12
#define ALONE_US 400000 /* a hundred of the kernel's ticks */

static int rank;
static const char *file;
static int schedstat; /* descriptor */

struct truth {
    uint64_t cpu_ns, runnable_ns, elapsed_ns;
    long steps;
};

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t runnable_ns(void)
{
    char text[128] = "";
    unsigned long long on = 0, waited = 0;

    if (schedstat < 0 || pread(schedstat, text, sizeof text - 1, 0) <= 0 ||
        sscanf(text, "%llu %llu", &on, &waited) != 2)
        return 0;
    return waited;
}

/* Throttled time of the control group, version 1 or 2, ns. */
static uint64_t held_ns(void)
{
    char line[128];
    unsigned long long value, ns = 0;
    FILE *stat = fopen(file, "re");

    REQUIRE(stat != NULL);
    while (fgets(line, sizeof line, stat) != NULL) {
        if (sscanf(line, "throttled_usec %llu", &value) == 1)
            ns = value * 1000;
        if (sscanf(line, "throttled_time %llu", &value) == 1)
            ns = value;
    }
    fclose(stat);
    return ns;
}

/* ---- steps ---- */

/* The clock is a system call: it is asked now and then only. */
static void work(long us)
{
    static volatile uint64_t value = 1;
    uint64_t end_ns = cpu_ns() + (uint64_t)us * 1000u;

    while (cpu_ns() < end_ns) {
        for (int i = 0; i < 50000; i++)
            value = value * 3 + 1;
    }
}

static void fault(long us)
{
    static volatile char *pages;
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t end_ns = cpu_ns() + (uint64_t)us * 1000u;

    if (pages == NULL) {
        pages = mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                     -1, 0);
        REQUIRE(pages != MAP_FAILED);
        madvise((void *)pages, PAGES * page_bytes, MADV_NOHUGEPAGE);
    }
    while (cpu_ns() < end_ns) {
        REQUIRE(madvise((void *)pages, PAGES * page_bytes, MADV_DONTNEED) == 0);
        for (int i = 0; i < PAGES; i++)
            pages[(size_t)i * page_bytes] = 1;
    }
}

static double us_of(const struct timeval *time)
{
    return (double)time->tv_sec * 1e6 + (double)time->tv_usec;
}

/* The kernel's share of the processor time of a thread that touches pages. */
static double kernel_share(void)
{
    struct rusage before, after;

    getrusage(RUSAGE_THREAD, &before);
    fault(ALONE_US);
    getrusage(RUSAGE_THREAD, &after);
    double user_us = us_of(&after.ru_utime) - us_of(&before.ru_utime);
    double system_us = us_of(&after.ru_stime) - us_of(&before.ru_stime);
    return system_us / (user_us + system_us);
}

static void sleep_for(long us)
{
    const struct timespec pause = {us / 1000000, us % 1000000 * 1000};

    nanosleep(&pause, NULL);
}

static sem_t hog_begins;
static atomic_bool hog_computes;

static void *compute(void *unused)
{
    for (;;) {
        sem_wait(&hog_begins);
        while (atomic_load(&hog_computes))
            ;
    }
    return NULL;
}

static void bind_here(void)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
}

static pthread_t hogs;

/* The hog thread's processor time, during which the rank waited. */
static uint64_t hog_ns(void)
{
    clockid_t clock;

    return hogs != 0 && pthread_getcpuclockid(hogs, &clock) == 0 ? read_clock(clock) : 0;
}

/* Both on the processor that it is on, from the first time; the hog only while the rank is. */
static void hog(long us)
{
    if (hogs == 0) {
        bind_here();
        REQUIRE(sem_init(&hog_begins, 0, 0) == 0);
        REQUIRE(pthread_create(&hogs, NULL, compute, NULL) == 0);
    }
    atomic_store(&hog_computes, 1);
    sem_post(&hog_begins);
    work(us);
    atomic_store(&hog_computes, 0);
}

struct rival {
    sem_t begins;
    atomic_bool computes;
};

static void be_rival(struct rival *shared)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        sem_wait(&shared->begins);
        while (atomic_load(&shared->computes))
            ;
    }
}

/* Likewise, with a process. */
static void rival(long us)
{
    static struct rival *shared;

    if (shared == NULL) {
        bind_here();
        shared =
            mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        REQUIRE(shared != MAP_FAILED && sem_init(&shared->begins, 1, 0) == 0);
        if (fork() == 0)
            be_rival(shared);
    }
    atomic_store(&shared->computes, 1);
    sem_post(&shared->begins);
    work(us);
    atomic_store(&shared->computes, 0);
}

static void read_file(long times)
{
    static char buffer[BLOCK];

    for (long i = 0; i < times; i++) {
        int descriptor = open(file, O_RDONLY);

        REQUIRE(descriptor >= 0);
        REQUIRE(posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0);
        while (read(descriptor, buffer, sizeof buffer) > 0)
            ;
        close(descriptor);
    }
}

/* The query function's work, done in the call that waits for the request. */
static void (*in_call)(long us);
static long in_call_us;

static int query(void *unused, MPI_Status *status)
{
    in_call(in_call_us);
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int let_go(void *unused)
{
    return MPI_SUCCESS;
}

static int cancel(void *unused, int complete)
{
    return MPI_SUCCESS;
}

static void take_in_call(void (*what)(long us), long us)
{
    MPI_Request request;

    in_call = what;
    in_call_us = us;
    MUST(MPI_Grequest_start(query, let_go, cancel, NULL, &request));
    MUST(MPI_Grequest_complete(request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void work_in_call(long us)
{
    take_in_call(work, us);
}

static void sleep_in_call(long us)
{
    take_in_call(sleep_for, us);
}

static void hog_in_call(long us)
{
    take_in_call(hog, us);
}

static void rival_in_call(long us)
{
    take_in_call(rival, us);
}

static const struct {
    const char *name;
    void (*what)(long amount);
} kinds[KINDS] = {
    {"work", work},
    {"faults", fault},
    {"sleep", sleep_for},
    {"hog", hog},
    {"read", read_file},
    {"held", work},
    {"inwork", work_in_call},
    {"insleep", sleep_in_call},
    {"inhog", hog_in_call},
    {"rival", rival},
    {"inrival", rival_in_call},
    {"inheld", work_in_call},
};

static struct truth truths[KINDS];

static void take(int kind, long amount)
{
    struct truth *truth = &truths[kind];
    uint64_t (*waited_ns)(void) = strstr(kinds[kind].name, "held") != NULL  ? held_ns
                                  : strstr(kinds[kind].name, "hog") != NULL ? hog_ns
                                                                            : runnable_ns;
    uint64_t begin_ns = read_clock(CLOCK_MONOTONIC), cpu = cpu_ns(), waited = waited_ns();

    kinds[kind].what(amount);
    truth->runnable_ns += waited_ns() - waited;
    truth->cpu_ns += cpu_ns() - cpu;
    truth->elapsed_ns += read_clock(CLOCK_MONOTONIC) - begin_ns;
    truth->steps++;
}

static void pass(int from, int to)
{
    int value = 1;

    if (rank == from)
        MUST(MPI_Send(&value, 1, MPI_INT, to, 0, MPI_COMM_WORLD));
    if (rank == to)
        MUST(MPI_Recv(&value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void take_step(const char *step)
{
    char name[16];
    int who, to, kind = 0;
    long amount;

    if (sscanf(step, "%d>%d", &who, &to) == 2) {
        pass(who, to);
        return;
    }
    REQUIRE(sscanf(step, "%d:%15[a-z]:%ld", &who, name, &amount) == 3);
    while (kind < KINDS && strcmp(kinds[kind].name, name) != 0)
        kind++;
    REQUIRE(kind < KINDS);
    if (who == rank)
        take(kind, amount);
}

/* ---- rounds ---- */

static int is_or(const char *step)
{
    return strcmp(step, "or") == 0;
}

/* The steps of the round that has this turn. */
static void take_steps(char **steps, int turn)
{
    for (; *steps != NULL && turn >= 0; steps++) {
        if (is_or(*steps))
            turn--;
        else if (turn == 0)
            take_step(*steps);
    }
}

static int has_faults(char **steps)
{
    int who, found = 0;
    char name[16];

    for (; *steps != NULL; steps++)
        found |= sscanf(*steps, "%d:%15[a-z]:", &who, name) == 2 && who == rank &&
                 strcmp(name, "faults") == 0;
    return found;
}

/* share: the kernel's share of the processor time of faults. */
static void print_truths(double share)
{
    for (int i = 0; i < KINDS; i++) {
        const struct truth *truth = &truths[i];
        uint64_t known_ns = truth->cpu_ns + truth->runnable_ns;

        if (truth->steps > 0)
            printf("%d %s %llu %llu %llu %.0f\n", rank, kinds[i].name,
                   (unsigned long long)truth->cpu_ns, (unsigned long long)truth->runnable_ns,
                   (unsigned long long)(truth->elapsed_ns > known_ns ? truth->elapsed_ns - known_ns
                                                                     : 0),
                   kinds[i].what == fault ? share * (double)truth->cpu_ns : 0);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int rounds, turns = 1;

    REQUIRE(argc > 2);
    rounds = atoi(argv[1]);
    file = argv[2];
    for (int i = 3; i < argc; i++)
        turns += is_or(argv[i]);
    MUST(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    double share = has_faults(argv + 3) ? kernel_share() : 0;
    for (int round = 0; round < rounds; round++) {
        MUST(MPI_Barrier(MPI_COMM_WORLD));
        take_steps(argv + 3, round % turns);
        MUST(MPI_Barrier(MPI_COMM_WORLD));
    }
    print_truths(share);
    MUST(MPI_Finalize());
    return 0;
}
