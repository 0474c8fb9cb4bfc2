/* Tests when a rank that waits in one of the library's own collectives sleeps, and when it drives
 * MPICH. The clock, sched_yield, futex, MPICH and the knowledge of processors are this file's. */
#include "lib/unit.h"
#include "mpi/real.h"
#include "wait/processors.h"
#include "wait/turn.h"
#include "wait/wait.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS 300
/* A poke that finds nothing, one that finds something, and one with cold caches. */
#define QUIET_NS 100
#define BUSY_NS 600
#define COLD_NS 2000

static uint64_t now_ns;
static bool apart, has_enough, is_cold;
static int sleeps, wakes, pokes, crowd;
static int64_t slept_ns; /* by the timer, in the last sleep */
static bool is_woken;    /* another rank ends each sleep */
/* MPICH's work: pokes to come that find something, and whether the hook sees it. */
static int work;
static bool is_seen;

struct sg_real sg_real;

int clock_gettime(clockid_t id, struct timespec *time)
{
    (void)id;
    time->tv_sec = (time_t)(now_ns / 1000000000);
    time->tv_nsec = (long)(now_ns % 1000000000);
    return 0;
}

int sched_yield(void)
{
    now_ns += STEP_NS;
    return 0;
}

long syscall(long number, ...)
{
    const struct timespec *timeout;
    va_list arguments;

    va_start(arguments, number);
    va_arg(arguments, void *);
    va_arg(arguments, int);
    va_arg(arguments, uint32_t);
    timeout = va_arg(arguments, const struct timespec *);
    va_end(arguments);
    sleeps += number == SYS_futex && timeout != NULL;
    wakes += number == SYS_futex && timeout == NULL;
    slept_ns = timeout != NULL ? timeout->tv_nsec : slept_ns;
    now_ns += 1000;
    if (is_woken)
        return 0;
    is_cold = true;
    errno = ETIMEDOUT;
    return -1;
}

bool sg_processors_are_short(void)
{
    return !has_enough;
}

int sg_processors_crowd(void)
{
    return crowd;
}

bool sg_processors_keep_apart(void)
{
    return apart;
}

void sg_processors_look_again(void)
{
}

static int probe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    (void)source, (void)tag, (void)comm, (void)status;
    *flag = 0;
    pokes++;
    now_ns += is_cold ? COLD_NS : work > 0 ? BUSY_NS : QUIET_NS;
    is_cold = false;
    if (work > 0 && is_seen)
        sg_turn_seen(true);
    if (work > 0)
        work--;
    return MPI_SUCCESS;
}

static bool never_ready(void *context)
{
    (void)context;
    return false;
}

static _Atomic uint32_t sleepers, wake;
static struct sg_wait_queue queue = {.sleepers = &sleepers, .wake = &wake};

static void step(struct sg_wait *wait, int steps)
{
    sleeps = pokes = 0;
    for (int i = 0; i < steps; i++)
        sg_wait_step(wait, &queue, never_ready, NULL);
}

static void start(enum sg_wait_mode mode)
{
    sg_real.Iprobe = probe;
    apart = has_enough = is_cold = is_seen = is_woken = false;
    queue.is_always_woken = false;
    atomic_store(&sleepers, 0);
    work = 0;
    crowd = 2;
    sg_turn_start(mode, false);
    /* Whatever the last wait has found is over. */
    for (int i = 0; i < 1000; i++)
        sg_wait_brief(&(struct sg_wait){0});
}

/* The number of sleeps in a wait of so many steps. */
static int sleeps_in(int steps)
{
    struct sg_wait wait = {0};

    step(&wait, steps);
    return sleeps;
}

TEST("ranks of one scheduling group yield for long before they sleep")
{
    start(SG_WAIT_AUTO);
    EXPECT(sleeps_in(200) == 0, sleeps_in(2000) > 0);
}

TEST("ranks whose yields may reach no other rank soon sleep")
{
    start(SG_WAIT_AUTO);
    apart = true;
    EXPECT(sleeps_in(10) == 0, sleeps_in(200) > 0);
}

TEST("a rank in mode yield never sleeps")
{
    start(SG_WAIT_YIELD);
    apart = true;
    EXPECT(sleeps_in(2000) == 0);
}

TEST("a rank with a processor of its own never sleeps, and soon drives MPICH")
{
    struct sg_wait wait = {0};

    start(SG_WAIT_AUTO);
    has_enough = true;
    step(&wait, 400);
    EXPECT(pokes <= 1);
    step(&wait, 1000000);
    EXPECT(sleeps == 0, pokes > 100000);
}

TEST("a rank in mode sleep sleeps, even with a processor for each rank")
{
    start(SG_WAIT_SLEEP);
    has_enough = true;
    EXPECT(sleeps_in(4000) == 0, sleeps_in(8000) > 0);
}

/* In a wait in which it sleeps MPICH comes to have much to do, and then nothing any more. */
static void ends_sleeping(bool is_hooked)
{
    struct sg_wait wait = {0};

    start(SG_WAIT_AUTO);
    is_seen = is_hooked;
    step(&wait, 4000);
    EXPECT(sleeps > 10);
    work = 4000;
    step(&wait, 4000);
    EXPECT(sleeps <= 1, pokes >= 3900);
    work = 0;
    step(&wait, 8000);
    EXPECT(sleeps > 10);
}

TEST("activity that the hook sees ends sleeping")
{
    ends_sleeping(true);
}

TEST("activity that takes time ends sleeping")
{
    ends_sleeping(false);
}

/* An operation comes when the last one has been answered, in a round trip of some steps. */
TEST("a rank stays awake between operations that follow each other")
{
    struct sg_wait wait = {0};
    int all_sleeps = 0, all_pokes = 0;

    start(SG_WAIT_AUTO);
    is_seen = true;
    step(&wait, 4000);
    for (int i = 0; i < 1000; i++) {
        work = 1;
        step(&wait, 30);
        all_sleeps += sleeps;
        all_pokes += pokes;
        ASSERT(work == 0);
    }
    EXPECT(all_sleeps <= 1, all_pokes > 29000);
}

/* As those between the chunks of a large operand. */
TEST("many short waits drive MPICH like a long one")
{
    int all = 0;

    start(SG_WAIT_AUTO);
    for (int i = 0; i < 1000; i++) {
        step(&(struct sg_wait){0}, 10);
        all += pokes;
    }
    EXPECT(all > 250);
    has_enough = true;
    all = 0;
    for (int i = 0; i < 1000; i++) {
        step(&(struct sg_wait){0}, 10);
        all += pokes;
    }
    EXPECT(all >= 20);
}

TEST("a rank that tests drives MPICH often")
{
    struct sg_wait wait = {0};

    start(SG_WAIT_AUTO);
    has_enough = true;
    pokes = sleeps = 0;
    for (int i = 0; i < 10000; i++)
        sg_wait_brief(&wait);
    EXPECT(pokes >= 2500, sleeps == 0);
}

/* With many ranks for each processor. */
static void start_crowd(void)
{
    start(SG_WAIT_AUTO);
    apart = queue.is_always_woken = true;
    crowd = 32;
}

TEST("one of many ranks sleeps at once, each time until it is woken")
{
    start_crowd();
    is_woken = true;
    for (int i = 0; i < 1000; i++) {
        EXPECT(sleeps_in(3) == 0, sleeps_in(4) == 1);
    }
}

TEST("one of many ranks that nobody wakes sleeps for long, and drives MPICH")
{
    struct sg_wait wait = {0};

    start_crowd();
    step(&wait, 10);
    EXPECT(slept_ns > 1000000 && slept_ns < 1000000000);
    step(&wait, 1000);
    EXPECT(pokes >= sleeps, sleeps > 100);
}

TEST("a rank's first sleep is short: others may not know that there are long ones")
{
    start_crowd();
    EXPECT(sleeps_in(4) == 1, slept_ns <= 100000);
}

TEST("a rank of many that may miss a wake-up does not sleep for long")
{
    start_crowd();
    queue.is_always_woken = false;
    EXPECT(sleeps_in(2000) > 0, slept_ns <= 100000);
}

TEST("many short waits of many ranks drive MPICH, too")
{
    int all = 0;

    start_crowd();
    is_woken = true;
    for (int i = 0; i < 1000; i++) {
        step(&(struct sg_wait){0}, 4);
        all += pokes;
    }
    EXPECT(all >= 100, all <= 500);
}

TEST("a wake-up costs a system call only if a rank sleeps")
{
    start_crowd();
    wakes = 0;
    sg_wait_wake(&queue);
    step(&(struct sg_wait){0}, 10);
    sg_wait_wake(&queue);
    EXPECT(wakes == 0);
    atomic_fetch_add(&sleepers, 1);
    sg_wait_wake(&queue);
    sg_wait_wake_first(&queue, 1);
    EXPECT(wakes == 2);
}
