/* Measures the machine's lower bound of a synchronization delay when all but the late rank sleep:
 * processes sleep on futexes, and one that arrives late wakes them in several ways. Prints the time
 * from its arrival to the last wake-up, in us: bench_wakes [SLEEPERS...]. Uses no MPI.
 *
 *   one     one futex that all sleep on, one call that wakes them all
 *   each    a futex each, woken by the late one in turn
 *   chain   a futex each; who wakes up wakes the next
 *   tree    a futex each; who wakes up, the late one first, wakes two
 *
 * Each process is in its own session, as under MPICH's launcher: autogroups then give each its own
 * share of the processor. The late one sleeps before it arrives, so that processors are idle as in
 * a call that all have waited for. The others look periodically whether anything has come, as the
 * library's sleepers do (shim/wait/wait.c). The ways alternate, so that other load affects them
 * alike.
 */
#include "clock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLEEPERS_MAX 63
#define ROUNDS 300
#define LATE_NS 1000000
#define NAP_NS 100000
#define END UINT32_MAX

enum way { ONE, EACH, CHAIN, TREE, WAYS };
static const char *const names[WAYS] = {"one", "each", "chain", "tree"};

/* On a cache line of its own: the round, which the process sleeps on, and when it saw it. */
struct place {
    _Alignas(128) _Atomic uint32_t round;
    _Atomic uint32_t seen;
    uint64_t seen_ns;
};

/* Indexed by process number. Place 0 is the late process's; in the way `one` all use it. */
static struct place *places;
static int sleepers;

static enum way way_of(uint32_t round)
{
    return round % WAYS;
}

static void wake(int number, uint32_t round, int count)
{
    atomic_store(&places[number].round, round);
    syscall(SYS_futex, &places[number].round, FUTEX_WAKE, count, NULL, NULL, 0);
}

static void wake_others(int number, uint32_t round)
{
    if (round == END || way_of(round) == EACH) {
        for (int other = 1; number == 0 && other <= sleepers; other++)
            wake(other, round, 1);
    } else if (way_of(round) == ONE && number == 0) {
        wake(0, round, INT_MAX);
    } else if (way_of(round) == CHAIN && number < sleepers) {
        wake(number + 1, round, 1);
    } else if (way_of(round) == TREE) {
        for (int other = 2 * number + 1; other <= 2 * number + 2 && other <= sleepers; other++)
            wake(other, round, 1);
    }
}

/* The next round comes by the own word or by everyone's, as its way is. */
static uint32_t sleep_until_after(int number, uint32_t last)
{
    _Atomic uint32_t *word =
        &places[way_of(last + 1) == ONE ? 0 : number].round; /* the end is told in all of them */
    const struct timespec nap = {.tv_nsec = NAP_NS};
    uint32_t seen;

    while ((seen = atomic_load(word)) != END && (int32_t)(seen - last) <= 0)
        syscall(SYS_futex, word, FUTEX_WAIT, seen, &nap, NULL, 0);
    return seen;
}

static void sleeper(int number)
{
    uint32_t round = 0;

    setsid();
    while ((round = sleep_until_after(number, round)) != END) {
        wake_others(number, round);
        places[number].seen_ns = now_ns();
        atomic_store(&places[number].seen, round);
    }
    _exit(0);
}

/* One round: all others sleep until the late process wakes them. Returns its wake-up delay. */
static double round_us(uint32_t round)
{
    const struct timespec late = {.tv_nsec = LATE_NS}, look = {.tv_nsec = 100000};
    uint64_t begin_ns, last_ns = 0;

    nanosleep(&late, NULL);
    begin_ns = now_ns();
    wake_others(0, round);
    for (int number = 1; number <= sleepers; number++) {
        while (atomic_load(&places[number].seen) != round)
            nanosleep(&look, NULL);
        if (places[number].seen_ns > last_ns)
            last_ns = places[number].seen_ns;
    }
    return (double)(last_ns - begin_ns) / 1e3;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static void measure(void)
{
    static double us[WAYS][ROUNDS];
    uint32_t round = 0;

    for (int number = 1; number <= sleepers; number++) {
        if (fork() == 0)
            sleeper(number);
    }
    for (int i = 0; i < ROUNDS; i++) {
        for (int way = 0; way < WAYS; way++) {
            round++;
            us[way_of(round)][i] = round_us(round);
        }
    }
    for (int number = 0; number <= sleepers; number++)
        wake(number, END, INT_MAX);
    while (wait(NULL) > 0 || errno == EINTR)
        ;
    printf("%8d", sleepers);
    for (int way = 0; way < WAYS; way++) {
        qsort(us[way], ROUNDS, sizeof us[way][0], compare);
        printf(" %9.1f", us[way][ROUNDS / 2]);
    }
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const char *usual[] = {NULL, "3", "7"};
    const char *const *counts = argc > 1 ? (const char *const *)argv : usual;
    int count = argc > 1 ? argc : 3;

    places = mmap(NULL, (SLEEPERS_MAX + 1) * sizeof *places, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (places == MAP_FAILED) {
        perror("bench_wakes");
        return 1;
    }
    printf("from a late process's arrival until all that slept are awake, us, medians of %d\n",
           ROUNDS);
    printf("%8s", "sleepers");
    for (int way = 0; way < WAYS; way++)
        printf(" %9s", names[way]);
    printf("\n");
    fflush(stdout);
    for (int i = 1; i < count; i++) {
        sleepers = atoi(counts[i]);
        if (sleepers < 1 || sleepers > SLEEPERS_MAX) {
            fprintf(stderr, "bench_wakes: 1 to %d sleepers\n", SLEEPERS_MAX);
            return 2;
        }
        for (int number = 0; number <= sleepers; number++)
            places[number] = (struct place){0};
        measure();
    }
    return 0;
}
