/* Tests that senders wake a rank that waits inside MPICH. A rank is a process: this one and its
 * children share the table and a mailbox that stands for MPICH's messages. Futexes are the
 * kernel's, but sleeps have no limit, so that a lost wake is a test that does not end. The
 * knowledge of processors is this file's.
 */
#include "lib/unit.h"
#include "wait/processors.h"
#include "wait/wakes.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RANKS 6
#define ROUNDS 500

/* Shared by all ranks. */
static struct shared {
    _Atomic int mail[RANKS], taken[RANKS]; /* messages that were sent to it, and that it has seen */
    _Atomic int sleeps, wakes;
    _Atomic int go; /* steps of a test */
} * shared;
static void *table;
static int rank, ranks;
static long limit_ns; /* of the last sleep */
static bool is_limited, lets_sleep = true;
static int crowd = 40;
__thread struct sg_turns sg_turns;

int sg_processors_crowd(void)
{
    return crowd;
}

bool sg_processors_keep_apart(void)
{
    return true;
}

bool sg_turn_lets_sleep(void)
{
    return lets_sleep;
}

void sg_turn_look(void)
{
}

void sg_turn_slept(uint64_t time_ns)
{
    (void)time_ns;
}

/* Counts futexes. */
long syscall(long number, ...)
{
    static long (*next)(long, ...);
    va_list list;
    long words[6];

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        words[i] = va_arg(list, long);
    va_end(list);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_futex && words[1] == FUTEX_WAIT) {
        limit_ns = ((const struct timespec *)words[3])->tv_nsec;
        words[3] = is_limited ? words[3] : 0;
        shared->sleeps++;
    } else if (number == SYS_futex && words[1] == FUTEX_WAKE) {
        shared->wakes++;
    }
    return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

static struct sg_wakes_key key_of(int number)
{
    struct sg_wakes_key key = {{1, (unsigned char)number}};

    return key;
}

/* Any address will do for an endpoint and for a request. */
static char endpoints[RANKS + 1], requests[4000];

static void begin(int count)
{
    ranks = count;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    table = mmap(NULL, sg_wakes_bytes(count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                 -1, 0);
    ASSERT(shared != MAP_FAILED, table != MAP_FAILED);
    memset(&sg_turns, 0, sizeof sg_turns);
    /* Every rank's key is in the table before any starts. */
    for (rank = 0; rank < count; rank++) {
        sg_wakes_expect(true);
        sg_wakes_know_own(key_of(rank));
        sg_wakes_enter(table, count, rank);
    }
}

static bool become(int number)
{
    rank = number;
    sg_wakes_expect(true);
    sg_wakes_know_own(key_of(rank));
    for (int i = 0; i < ranks; i++)
        sg_wakes_know_endpoint(&endpoints[i], key_of(i));
    sg_wakes_enter(table, ranks, rank);
    return sg_wakes_start();
}

static void end(void)
{
    int status, failed = 0;

    while (wait(&status) > 0)
        failed += status != 0;
    EXPECT(failed == 0);
    sg_wakes_expect(false);
    munmap(table, sg_wakes_bytes(ranks));
    munmap(shared, sizeof *shared);
}

/* Runs a function as another rank, in a process. */
static void with_rank(int number, void (*run)(void))
{
    pid_t child = fork();

    ASSERT(child >= 0);
    if (child != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* it may sleep for ever */
    if (!become(number))
        _exit(2);
    run();
    _exit(0);
}

static void send_to(int number, const void *request)
{
    shared->mail[number]++;
    sg_wakes_sent(&endpoints[number], request);
}

/* An iteration: the number of messages. */
static unsigned progress(void *before)
{
    void (*look)(void) = NULL;
    int there = shared->mail[rank], found = there - shared->taken[rank];

    shared->taken[rank] = there;
    *(void **)&look = before;
    if (found == 0 && look != NULL)
        look();
    return (unsigned)found;
}

/* Waits as MPICH does for a message. */
static void receive(void (*look)(void))
{
    void *before;
    unsigned events;

    *(void (**)(void)) & before = look;
    sg_wakes_begin_wait();
    while (progress(NULL) == 0) {
        if (sg_wakes_sleep(progress, before, &events) && events > 0)
            break;
    }
    sg_wakes_end_wait();
}

static void wait_for_go(int count)
{
    while (shared->go < count)
        sched_yield();
}

/* ---- tests ---- */

static void send_one(void)
{
    wait_for_go(1);
    send_to(0, NULL);
    shared->go = 2;
}

/* The fault: a message comes between the last look and the sleep. */
static void come_late(void)
{
    if (shared->go != 0)
        return;
    shared->go = 1;
    wait_for_go(2);
}

TEST("a message that comes between a rank's last look and its sleep wakes it")
{
    begin(2);
    with_rank(1, send_one);
    ASSERT(become(0));
    receive(come_late);
    EXPECT(shared->mail[0] == 1, shared->taken[0] == 1);
    end();
}

static void answer_all(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        receive(NULL);
        send_to(0, NULL);
    }
}

TEST("two ranks that answer each other lose no wake")
{
    begin(2);
    with_rank(1, answer_all);
    ASSERT(become(0));
    for (int i = 0; i < ROUNDS; i++) {
        send_to(1, NULL);
        receive(NULL);
    }
    EXPECT(shared->mail[0] == ROUNDS, shared->mail[1] == ROUNDS);
    end();
}

static void go_round(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        receive(NULL);
        send_to((rank + 1) % ranks, NULL);
    }
}

TEST("ranks that pass a message round lose no wake")
{
    begin(RANKS);
    for (int i = 1; i < RANKS; i++)
        with_rank(i, go_round);
    ASSERT(become(0));
    for (int i = 0; i < ROUNDS; i++) {
        send_to(1, NULL);
        receive(NULL);
    }
    EXPECT(shared->mail[0] == ROUNDS);
    end();
}

static void receive_one(void)
{
    receive(NULL);
}

/* Every rank has slept at least once, and does so when the message comes. */
static void until_all_sleep(int count)
{
    while (shared->sleeps < count)
        sched_yield();
}

TEST("a message to all wakes each rank once")
{
    begin(RANKS);
    for (int i = 1; i < RANKS; i++)
        with_rank(i, receive_one);
    ASSERT(become(0));
    until_all_sleep(RANKS - 1);
    sg_wakes_begin_wait();
    for (int i = 1; i < RANKS; i++)
        send_to(i, NULL);
    EXPECT(shared->wakes == 0, sg_wakes_are_owed);
    sg_wakes_end_wait();
    EXPECT(!sg_wakes_are_owed);
    while (wait(NULL) > 0)
        continue;
    EXPECT(shared->wakes == RANKS - 1);
    end();
}

/* Receives nothing by itself: what it progresses lets rank 0 go on. */
static void progress_for_another(void)
{
    wait_for_go(1);
    until_all_sleep(1);
    shared->mail[0]++;
    sg_wakes_progressed();
}

static void say_go(void)
{
    shared->go = 1;
}

TEST("a rank whose send is unfinished is woken when the receiver has progressed")
{
    begin(2);
    with_rank(1, progress_for_another);
    ASSERT(become(0));
    sg_wakes_sent(&endpoints[1], &requests[0]);
    receive(say_go);
    EXPECT(shared->wakes == 1);
    end();
}

TEST("... also while it waits for an answer by progressing")
{
    begin(2);
    with_rank(1, progress_for_another);
    ASSERT(become(0));
    sg_wakes_begin_answer(&endpoints[1]);
    receive(say_go);
    sg_wakes_end_answer(&endpoints[1]);
    EXPECT(shared->wakes == 1);
    end();
}

static void progress_and_send(void)
{
    progress_for_another();
    sg_wakes_sent(&endpoints[0], NULL);
}

TEST("a rank whose sends have ended is not woken by progress")
{
    begin(2);
    with_rank(1, progress_and_send);
    ASSERT(become(0));
    for (int i = 0; i < 4000; i++)
        sg_wakes_sent(&endpoints[1], &requests[i]);
    for (int i = 0; i < 4000; i++)
        sg_wakes_ended(&requests[i * 7 % 4000]);
    receive(say_go);
    EXPECT(shared->wakes == 1);
    end();
}

static bool sleeps_once(void)
{
    unsigned events;
    int before = shared->sleeps;

    is_limited = true;
    for (int i = 0; i < 10 && shared->sleeps == before; i++)
        sg_wakes_sleep(progress, NULL, &events);
    is_limited = false;
    return shared->sleeps > before;
}

TEST("a sleep's limit grows with the ranks of a processor, and is short if others may send, too")
{
    begin(2);
    ASSERT(become(0));
    crowd = 40;
    EXPECT(sleeps_once(), limit_ns == 10000000);
    crowd = 1000;
    EXPECT(sleeps_once(), limit_ns == 50000000);
    sg_wakes_flushed(&requests[0]);
    EXPECT(sleeps_once(), limit_ns == 80000);
    sg_wakes_ended(&requests[0]);
    EXPECT(sleeps_once(), limit_ns == 50000000);
    sg_wakes_know_endpoint(&endpoints[2], key_of(2));
    EXPECT(sleeps_once(), limit_ns == 80000);
    sg_wakes_forget_endpoint(&endpoints[2]);
    EXPECT(sleeps_once(), limit_ns == 50000000);
    crowd = 40;
    end();
}

TEST("few ranks for each processor, or threads, do not sleep in this way")
{
    begin(2);
    ASSERT(become(0));
    crowd = 8;
    EXPECT(!sleeps_once(), !sg_wakes_are_useful());
    crowd = 40;
    EXPECT(sg_wakes_are_useful());
    lets_sleep = false;
    EXPECT(!sleeps_once());
    lets_sleep = true;
    sg_wakes_stop();
    EXPECT(!sg_wakes_are_on);
    end();
}

TEST("a rank that waits without sleeping wakes others at once")
{
    unsigned events;

    begin(2);
    with_rank(1, receive_one);
    ASSERT(become(0));
    until_all_sleep(1);
    lets_sleep = false;
    sg_wakes_begin_wait();
    send_to(1, NULL);
    EXPECT(sg_wakes_are_owed, !sg_wakes_sleep(progress, NULL, &events));
    EXPECT(!sg_wakes_are_owed, shared->wakes == 1);
    sg_wakes_end_wait();
    lets_sleep = true;
    end();
}

TEST("ranks whose keys are the same start nothing")
{
    begin(2);
    sg_wakes_expect(true);
    sg_wakes_know_own(key_of(0));
    sg_wakes_enter(table, 2, 1);
    EXPECT(!become(0), !sg_wakes_are_on);
    end();
}
