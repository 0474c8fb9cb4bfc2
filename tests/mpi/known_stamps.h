/* Stamps and late ranks of known_waits.c, whose comment defines them: apart from it, its functions
 * and rows are one file. Each rank writes its stamps, and how late ranks spent their time.
 */
#ifndef SG_TESTS_KNOWN_STAMPS_H
#define SG_TESTS_KNOWN_STAMPS_H

#include "clock.h"
#include "known.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define STAMPS_MAX 4096

static int rank, round_number;
static const char *files;          /* argument */
static const char *case_name = ""; /* of the row that runs */

/* ---- stamps ---------------------------------------------------------------------------------- */

static struct stamp {
    const char *case_name, *function, *call;
    int line, round;
    uint64_t before_ns, begun_ns, after_ns;
} stamps[STAMPS_MAX];
static atomic_int stamp_count;
static __thread struct stamp *open_stamp;

static void note_begun(void)
{
    if (open_stamp != NULL && open_stamp->begun_ns == 0)
        open_stamp->begun_ns = now_ns();
}

/* In the place of the C library's: stagger and MPICH call these when they wait. */
int sched_yield(void)
{
    note_begun();
    return (int)syscall(SYS_sched_yield);
}

/* MPI_Init reads from the launcher. Later on the library may read before a call has begun. */
ssize_t read(int descriptor, void *into, size_t bytes)
{
    if (round_number == 0)
        note_begun();
    return syscall(SYS_read, descriptor, into, bytes);
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    note_begun();
    return (int)syscall(SYS_nanosleep, time, left);
}

static void stamp_begin(const char *function, const char *call, int line)
{
    int number = atomic_fetch_add(&stamp_count, 1);

    REQUIRE(number < STAMPS_MAX);
    open_stamp = &stamps[number];
    *open_stamp = (struct stamp){case_name, function, call, line, round_number, now_ns(), 0, 0};
}

static void stamp_end(void)
{
    open_stamp->after_ns = now_ns();
    if (open_stamp->begun_ns == 0)
        open_stamp->begun_ns = open_stamp->after_ns;
    open_stamp = NULL;
}

#define AT(call) (stamp_begin(__func__, #call, __LINE__), (void)(call), stamp_end())
/* Call after each test of a loop. A rank that spends its time elsewhere does not wait: its wait
 * certainly lasts only since tests were a quarter of its time. Those that take long may have been
 * preempted between two tests. */
static void note_test(uint64_t *lost_ns, uint64_t *tested_ns)
{
    uint64_t now = now_ns();

    note_begun();
    if (now - *tested_ns > 50000)
        *lost_ns += now - *tested_ns;
    if (*lost_ns > (now - open_stamp->begun_ns) / 4) {
        open_stamp->begun_ns = now;
        *lost_ns = 0;
    }
    *tested_ns = now;
}

/* A loop of calls that only test. */
#define UNTIL(is_done, call)                                                                       \
    do {                                                                                           \
        uint64_t lost_ns = 0, tested_ns = now_ns();                                                \
                                                                                                   \
        stamp_begin(__func__, #call, __LINE__);                                                    \
        for (is_done = 0; !is_done; note_test(&lost_ns, &tested_ns))                               \
            (void)(call);                                                                          \
        stamp_end();                                                                               \
    } while (0)

/* ---- late ranks ------------------------------------------------------------------------------ */

static void touch_pages(uint64_t until_ns)
{
    const size_t bytes = 1 << 20;

    while (now_ns() < until_ns) {
        volatile char *pages =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(pages != MAP_FAILED && madvise((void *)pages, bytes, MADV_NOHUGEPAGE) == 0);
        for (size_t i = 0; i < bytes; i += 4096)
            pages[i] = 1;
        munmap((void *)pages, bytes);
    }
}

static void write_through(uint64_t until_ns)
{
    static char block[65536];
    char name[4096];

    snprintf(name, sizeof name, "%s.late%d", files, rank);
    int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    REQUIRE(file >= 0);
    while (now_ns() < until_ns)
        REQUIRE(write(file, block, sizeof block) > 0 && fsync(file) == 0);
    close(file);
}

/* Twice the time, as the rival computes, too. */
static void be_preempted(uint64_t until_ns)
{
    cpu_set_t all, one;

    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    pid_t rival = fork();
    if (rival == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            ;
    }
    while (now_ns() < until_ns)
        ;
    kill(rival, SIGKILL);
    waitpid(rival, NULL, 0);
    REQUIRE(sched_setaffinity(0, sizeof all, &all) == 0);
}

static uint64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Time for which the thread waited for a processor; 0 where the kernel does not report it. */
static uint64_t runnable_ns(void)
{
    unsigned long long waited = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "re");

    if (file != NULL && fscanf(file, "%*u %llu", &waited) != 1)
        waited = 0;
    if (file != NULL)
        fclose(file);
    return waited;
}

static struct spent {
    const char *case_name;
    int round;
    uint64_t begin_ns, elapsed_ns, cpu_ns, runnable_ns;
} spent[STAMPS_MAX];
static int spent_count;

static void spend_until(char how, uint64_t until_ns)
{
    switch (how) {
    case 's':
        sleep_until(until_ns);
        break;
    case 'c':
        while (now_ns() < until_ns)
            ;
        break;
    case 'f':
        touch_pages(until_ns);
        break;
    case 'r':
        write_through(until_ns);
        break;
    default:
        be_preempted(until_ns);
    }
}

static void spend(char how, int ms)
{
    uint64_t begin_ns = now_ns(), begin_cpu_ns = cpu_ns(), begin_runnable_ns = runnable_ns();

    spend_until(how, begin_ns + (uint64_t)ms * 1000000);
    REQUIRE(spent_count < STAMPS_MAX);
    spent[spent_count++] = (struct spent){case_name,
                                          round_number,
                                          begin_ns,
                                          now_ns() - begin_ns,
                                          cpu_ns() - begin_cpu_ns,
                                          runnable_ns() - begin_runnable_ns};
}

static const char *late_ranks;

static void come_late(void)
{
    int who, ms, length;
    char how;

    for (const char *late = late_ranks; sscanf(late, " %d%c%d%n", &who, &how, &ms, &length) == 3;
         late += length) {
        if (who == rank)
            spend(how, ms);
    }
}

/* ---- results --------------------------------------------------------------------------------- */

static FILE *file_of_rank(void)
{
    char name[4096];

    snprintf(name, sizeof name, "%s.%d", files, rank);
    FILE *file = fopen(name, "w");
    REQUIRE(file != NULL);
    return file;
}

static void write_stamps(FILE *file)
{
    for (int i = 0; i < stamp_count; i++) {
        const struct stamp *s = &stamps[i];

        fprintf(file, "stamp %s %d %s %.*s %d %ju %ju %ju\n", s->case_name, s->round, s->function,
                (int)strcspn(s->call, "("), s->call, s->line, (uintmax_t)s->before_ns,
                (uintmax_t)s->begun_ns, (uintmax_t)s->after_ns);
    }
    for (int i = 0; i < spent_count; i++) {
        const struct spent *s = &spent[i];

        fprintf(file, "spent %s %d %ju %ju %ju %ju\n", s->case_name, s->round,
                (uintmax_t)s->begin_ns, (uintmax_t)s->elapsed_ns, (uintmax_t)s->cpu_ns,
                (uintmax_t)s->runnable_ns);
    }
}

#endif
