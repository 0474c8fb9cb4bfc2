/* Ranks between calls of MPI: known_causes WHAT ROUNDS [FILE]. In each round rank 1 does WHAT
 * between two barriers, the others next to nothing:
 *
 *   work      computes
 *   long      computes for HELD_NS, and on until the control group whose cpu.stat is FILE, if any,
 *             has been throttled once
 *   faults    touches PAGES pages that are not there
 *   sleep     sleeps SLEEPS times
 *   die       sleeps likewise, and on until it has slept for longer than it waited for a processor,
 *             and kills itself the DEATH-th time, when rank 0 has left the barrier
 *   hog       computes on a processor that a thread of its own computes on, too, until that has
 *             had the processor
 *   read      reads FILE, past the kernel's cache
 *   messages  all ranks pass a message around, without any barrier
 *   comms     all ranks have barriers on halves of the world, and every fourth time on all of it
 *   threads   a thread that sends rank 1 a message itself, and ends (MPI_THREAD_MULTIPLE)
 *   files     closes the files that readings need, and opens its own
 *   fork      has a child that calls nothing and ends
 *
 * Rank 1 prints "rank 1: N cpu N": the amount it did, if known (ns of computing, the hog's if there
 * is one; pages; sleeps; blocks read; files), and its own processor time in ns.
 */
#define _GNU_SOURCE
#include "mpi_test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define PAGES 64
#define SLEEPS 3
#define DEATH 15
#define WORK_NS 4000000
#define HELD_NS 15000000
#define BLOCK 65536

static int rank, size;
static long done;
static const char *file;

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

static struct rusage used(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return usage;
}

/* The number in a file that the format finds; 0: none, or no file. */
static uint64_t number_in(const char *path, const char *format)
{
    char line[128];
    unsigned long long value = 0;
    FILE *lines = path == NULL ? NULL : fopen(path, "re");

    while (lines != NULL && fgets(line, sizeof line, lines) != NULL)
        sscanf(line, format, &value);
    if (lines != NULL)
        fclose(lines);
    return value;
}

/* 0 where the kernel does not report it. */
static uint64_t runnable_ns(void)
{
    return number_in("/proc/thread-self/schedstat", "%*u %llu");
}

static uint64_t throttled(void)
{
    return number_in(file, "throttled_usec %llu") + number_in(file, "throttled_time %llu");
}

/* The clock is a system call: it is asked now and then only. */
static void work_for(long span_ns)
{
    static volatile uint64_t value = 1;
    uint64_t end_ns = cpu_ns() + (uint64_t)span_ns;

    while (cpu_ns() < end_ns) {
        for (int i = 0; i < 5000; i++)
            value = value * 3 + 1;
    }
}

static void work(void)
{
    work_for(WORK_NS);
    done += WORK_NS;
}

static void work_long(void)
{
    static bool is_throttled;
    uint64_t before = throttled();

    do {
        work_for(HELD_NS);
        done += HELD_NS;
        is_throttled = is_throttled || throttled() != before;
    } while (file != NULL && !is_throttled);
}

static void faults(void)
{
    static volatile char *pages;
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

    if (pages == NULL) {
        pages = mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                     -1, 0);
        REQUIRE(pages != MAP_FAILED);
        madvise((void *)pages, PAGES * page_bytes, MADV_NOHUGEPAGE);
    }
    REQUIRE(madvise((void *)pages, PAGES * page_bytes, MADV_DONTNEED) == 0);
    for (int i = 0; i < PAGES; i++)
        pages[(size_t)i * page_bytes] = 1;
    done += PAGES;
}

static void sleeps(void)
{
    const struct timespec pause = {0, 1000000};
    long before = used().ru_nvcsw;

    /* A timer may end before its sleep begins: then there is no switch. */
    for (int i = 0; i < SLEEPS || used().ru_nvcsw - before < SLEEPS; i++)
        nanosleep(&pause, NULL);
    done += SLEEPS;
}

static void die(void)
{
    uint64_t before_ns = runnable_ns(), begin_ns = read_clock(CLOCK_MONOTONIC);
    struct timespec pause = {0, 1000000};

    if (done == SLEEPS * (DEATH - 1L)) {
        MUST(PMPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        raise(SIGKILL);
    }
    sleeps();
    while (read_clock(CLOCK_MONOTONIC) - begin_ns < 3 * (runnable_ns() - before_ns)) {
        nanosleep(&pause, NULL);
        pause.tv_nsec = pause.tv_nsec < 400000000 ? 2 * pause.tv_nsec : pause.tv_nsec;
    }
}

static atomic_bool hog_ends;

static void *compute(void *unused)
{
    while (!atomic_load(&hog_ends))
        ;
    return NULL;
}

/* Both on the processor that it is on, from the first time. */
static void hog(void)
{
    static pthread_t hogs;
    static clockid_t clock;
    cpu_set_t one;

    if (hogs == 0) {
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
        REQUIRE(pthread_create(&hogs, NULL, compute, NULL) == 0);
        REQUIRE(pthread_getcpuclockid(hogs, &clock) == 0);
    }
    uint64_t before_ns = read_clock(clock);
    do
        work_for(2 * WORK_NS);
    while (read_clock(clock) == before_ns);
    done += (long)(read_clock(clock) - before_ns);
}

static void reads(void)
{
    static char *buffer;
    int descriptor = open(file, O_RDONLY);
    long before = used().ru_inblock;

    if (buffer == NULL)
        buffer = malloc(BLOCK);
    REQUIRE(descriptor >= 0 && buffer != NULL);
    REQUIRE(posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0);
    while (read(descriptor, buffer, BLOCK) > 0)
        ;
    close(descriptor);
    done += used().ru_inblock - before;
}

/* Those below /proc, and of events that the kernel counts; its own then have their numbers, and
 * nobody else reads of them. It sleeps: what does not switch need not be read again. */
static void close_files(void)
{
    static const struct timespec moment = {0, 1000};
    static int own[64], count;
    char link[64], name[64];

    nanosleep(&moment, NULL);
    for (int i = 0; i < count; i++)
        REQUIRE(lseek(own[i], 0, SEEK_CUR) == 0);
    if (count > 0)
        return;
    for (int i = 3; i < 1024; i++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", i);
        ssize_t length = readlink(link, name, sizeof name - 1);
        name[length > 0 ? length : 0] = '\0';
        if (strstr(name, "schedstat") == NULL && strstr(name, "perf_event") == NULL)
            continue;
        close(i);
        REQUIRE(open("/proc/self/exe", O_RDONLY) == i);
        REQUIRE(count < 64);
        own[count++] = i;
        done++;
    }
}

static void forks(void)
{
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    REQUIRE(child > 0 && waitpid(child, NULL, 0) == child);
    done++;
}

static const struct {
    const char *name;
    void (*what)(void);
} kinds[] = {
    {"work", work},  {"long", work_long},    {"faults", faults}, {"sleep", sleeps}, {"hog", hog},
    {"read", reads}, {"files", close_files}, {"fork", forks},    {"die", die},
};

static void pass_around(void)
{
    int value = rank;

    MUST(MPI_Sendrecv_replace(&value, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
                              MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void *send_itself(void *unused)
{
    int value = 1, got = 0;

    for (int i = 0; i < 4; i++)
        MUST(MPI_Sendrecv(&value, 1, MPI_INT, rank, 7, &got, 1, MPI_INT, rank, 7, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    return NULL;
}

static int open_files(void)
{
    int count = 0;

    for (int descriptor = 0; descriptor < 1024; descriptor++)
        count += fcntl(descriptor, F_GETFD) != -1;
    return count;
}

/* Threads that have ended leave no files open. */
static void run_thread(void)
{
    static int files;
    pthread_t thread;

    REQUIRE(pthread_create(&thread, NULL, send_itself, NULL) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
    if (done++ == 0)
        files = open_files();
    REQUIRE(open_files() == files);
}

/* A round of those that more ranks than one have a part in; false: it is none of them. */
static int common_round(const char *what, int round, MPI_Comm half)
{
    if (strcmp(what, "messages") == 0) {
        pass_around();
    } else if (strcmp(what, "comms") == 0) {
        MUST(MPI_Barrier(half));
        if (round % 4 == 3)
            MUST(MPI_Barrier(MPI_COMM_WORLD));
    } else if (strcmp(what, "threads") == 0) {
        if (rank == 1)
            run_thread();
        MUST(MPI_Barrier(MPI_COMM_WORLD));
    } else {
        return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    const char *what = argv[1];
    int rounds = atoi(argv[2]), provided;
    void (*own)(void) = NULL;
    MPI_Comm half = MPI_COMM_NULL;

    file = argv[3];
    MUST(MPI_Init_thread(&argc, &argv,
                         strcmp(what, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                         &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "comms") == 0)
        MUST(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, what) == 0)
            own = kinds[i].what;
    }
    uint64_t begin_ns = cpu_ns();
    for (int round = 0; round < rounds; round++) {
        if (common_round(what, round, half))
            continue;
        REQUIRE(own != NULL);
        MUST(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 1)
            own();
        else if (own == die && round == DEATH - 1)
            MUST(PMPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD));
        MUST(MPI_Barrier(MPI_COMM_WORLD));
    }
    atomic_store(&hog_ends, 1);
    if (rank == 1)
        printf("rank 1: %ld cpu %llu\n", done, (unsigned long long)(cpu_ns() - begin_ns));
    if (half != MPI_COMM_NULL)
        MUST(MPI_Comm_free(&half));
    MUST(MPI_Finalize());
    return 0;
}
