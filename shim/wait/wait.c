#include "wait/wait.h"

#include "core/clock.h"
#include "core/cpu/cpu.h"
#include "mpi/real.h"
#include "wait/processors.h"
#include "wait/turn.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A build with 0 shows that a test of the progress rule fails without it. */
#ifndef SG_WAIT_POKES
#define SG_WAIT_POKES 1
#endif

/* Steps on the first rung: with a processor for every rank waiting is short, and giving it away
 * would only cost; without, whoever is late may need this very processor. */
#define SPINS_ALONE 4000u
#define SPINS_CONTESTED 4u
/* Steps between pokes: of a wait that has just begun, some 10 us; of one that lasts, so that an
 * operation on this rank's window takes as long as in MPICH; and of one step for each test. */
#define POKE_STEPS 500u
#define POKE_STEPS_LATER 4u
#define POKE_STEPS_BRIEF 4u
#define YIELDS_PER_POKE 16u
/* Pokes at every step after one that has found something: the next thing comes within a round trip.
 * After a sleep, too, which ends in a poke that may have answered somebody. Whoever it is may need
 * this processor for the next thing. */
#define LIVELY_POKES 64u
#define WOKEN_POKES 8u
#define LIVELY_POKES_PER_YIELD 8u
/* A poke that takes longer than the least by half and this may have found something. */
#define POKE_SLACK_NS 100u
#define POKE_MAX_NS UINT64_C(1000)
#define YIELD_NS UINT64_C(200000)
/* ... where yields may reach nobody, and a sleeper is woken. */
#define YIELD_APART_NS UINT64_C(5000)
#define SLEEP_NS UINT64_C(100000)
/* The kernel wakes a sleeper so much later than it is told (timer_slack_ns), or less. */
#define SLACK_NS UINT64_C(60000)

/* The state in which this thread drives MPICH, over all its waits: large operands have many. */
struct driving {
    uint32_t steps;    /* since the last poke */
    uint32_t lively;   /* pokes to come at every step */
    bool is_cold;      /* another thread has had the processor since the last poke */
    uint64_t quiet_ns; /* the least that a poke took in this wait */
};

static __thread struct driving driving;
static MPI_Comm poked;

void sg_wait_start(MPI_Comm world)
{
    poked = world;
}

/* True: the hook has seen that it found something. */
static bool poke(void)
{
    uint32_t events = sg_turns.events;
    bool before, found;
    int flag;

    driving.steps = 0;
    if (!SG_WAIT_POKES)
        return false;
    before = sg_turn_begin_own();
    sg_real.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, poked, &flag, MPI_STATUS_IGNORE);
    sg_turn_end_own(before);
    found = sg_turns.events != events;
    if (found)
        driving.lively = LIVELY_POKES;
    else if (driving.lively > 0)
        driving.lively--;
    return found;
}

/* Hooks do not see what MPICH's own shared memory brings: time tells. One slow poke may be slow for
 * other reasons, so it is looked at closer, and a second one counts. */
static bool poke_timed(void)
{
    uint32_t lively = driving.lively;
    uint64_t begin_ns = sg_clock_ns(), poke_ns;

    if (poke())
        return true;
    poke_ns = sg_clock_ns() - begin_ns;
    if (driving.is_cold) {
        driving.is_cold = false;
        return false;
    }
    if (poke_ns < driving.quiet_ns)
        driving.quiet_ns = poke_ns;
    if (poke_ns <= driving.quiet_ns + driving.quiet_ns / 2 + POKE_SLACK_NS)
        return false;
    driving.lively = lively > WOKEN_POKES ? LIVELY_POKES : 2 * WOKEN_POKES;
    return lively > WOKEN_POKES;
}

/* No later than the waiter's timer; 0: not at all. */
static uint64_t sleep_ns(const struct sg_wait_queue *queue, uint64_t now_ns)
{
    /* Relaxed: a timer that is set meanwhile is late by one sleep. */
    uint64_t timer_ns =
        queue->timer_ns == NULL ? 0 : atomic_load_explicit(queue->timer_ns, memory_order_relaxed);

    if (timer_ns == 0 || timer_ns >= now_ns + SLEEP_NS + SLACK_NS)
        return SLEEP_NS;
    return timer_ns > now_ns + SLACK_NS ? timer_ns - now_ns - SLACK_NS : 0;
}

/* True: it has slept, and nobody has woken it. */
static bool sleep_on(const struct sg_wait_queue *queue, bool (*ready)(void *), void *context)
{
    bool is_woken = true;
    uint64_t begin_ns = sg_clock_ns();
    struct timespec timeout = {0, (long)sleep_ns(queue, begin_ns)};
    uint32_t seen;

    if (timeout.tv_nsec == 0) {
        sg_turn_yield();
        return false;
    }
    /* Sequentially consistent, so that the flag is up before we look once more. */
    atomic_fetch_add(queue->sleepers, 1);
    seen = atomic_load(queue->wake);
    /* A release that crosses this, unseen by both sides, costs one sleep: SLEEP_NS. */
    if (!ready(context)) {
        is_woken = syscall(SYS_futex, queue->wake, FUTEX_WAIT, seen, &timeout, NULL, 0) == 0;
        sg_turn_slept(sg_clock_ns() - begin_ns);
    }
    atomic_fetch_sub(queue->sleepers, 1);
    return !is_woken;
}

/* Whether the thread keeps its processor in this step. Where nobody else wants it, it always does.
 */
static bool spins(const struct sg_wait *wait)
{
    enum sg_wait_mode mode = sg_turn_mode();
    bool is_contested = sg_turn_is_contested();

    return mode == SG_WAIT_SPIN || (mode == SG_WAIT_AUTO && !is_contested) ||
           wait->steps < (is_contested ? SPINS_CONTESTED : SPINS_ALONE);
}

static uint32_t steps_per_poke(uint32_t steps)
{
    return driving.lively > 0 ? 1 : steps;
}

/* In a wait that lasts: others may have come to want this processor. */
static void look(const struct sg_wait *wait)
{
    if (wait->steps % SPINS_ALONE == 0)
        sg_turn_look();
}

static bool spin(struct sg_wait *wait)
{
    uint32_t steps = wait->steps < POKE_STEPS ? POKE_STEPS : POKE_STEPS_LATER;

    sg_cpu_pause();
    if (++driving.steps >= steps_per_poke(steps))
        poke();
    if (wait->steps % POKE_STEPS != 0)
        return false;
    if (wait->begin_ns == 0)
        wait->begin_ns = sg_clock_ns();
    look(wait);
    return true;
}

static uint64_t yields_for_ns(void)
{
    return sg_processors_keep_apart() ? YIELD_APART_NS : YIELD_NS;
}

static void begin_yields(struct sg_wait *wait, uint64_t now_ns)
{
    wait->yields_ns = now_ns;
    driving.quiet_ns = POKE_MAX_NS;
    sg_turn_look();
}

/* Yields until nothing has happened for long, then sleeps. */
static bool give_way(struct sg_wait *wait, const struct sg_wait_queue *queue, bool (*ready)(void *),
                     void *context)
{
    bool found, slow = wait->steps % YIELDS_PER_POKE == 0;
    uint64_t now_ns;

    if (++driving.steps < steps_per_poke(2 * YIELDS_PER_POKE) && !slow) {
        driving.is_cold |= sg_turn_yield();
        return false;
    }
    found = poke_timed();
    now_ns = sg_clock_ns();
    /* A caller that has come a step further sets it to 0 again. */
    if (wait->begin_ns == 0 && slow)
        wait->begin_ns = now_ns;
    if (wait->yields_ns == 0 && slow)
        begin_yields(wait, now_ns);
    else if (found)
        wait->yields_ns = now_ns;
    if (driving.lively % LIVELY_POKES_PER_YIELD != 0) {
        sg_cpu_pause();
    } else if (driving.lively > 0 || wait->yields_ns == 0 || sg_turn_mode() == SG_WAIT_YIELD ||
               now_ns - wait->yields_ns <= yields_for_ns()) {
        driving.is_cold = sg_turn_yield();
    } else {
        driving.lively = sleep_on(queue, ready, context) ? WOKEN_POKES : 1;
        driving.is_cold = true;
        slow = true;
    }
    return slow;
}

bool sg_wait_step(struct sg_wait *wait, const struct sg_wait_queue *queue, bool (*ready)(void *),
                  void *context)
{
    wait->steps++;
    return spins(wait) ? spin(wait) : give_way(wait, queue, ready, context);
}

void sg_wait_brief(struct sg_wait *wait)
{
    uint32_t steps = YIELDS_PER_POKE;

    wait->steps++;
    if (spins(wait)) {
        sg_cpu_pause();
        steps = POKE_STEPS_BRIEF;
    } else {
        sg_turn_yield();
    }
    look(wait);
    if (++driving.steps >= steps_per_poke(steps))
        poke();
}

uint64_t sg_wait_elapsed_ns(const struct sg_wait *wait)
{
    return wait->begin_ns == 0 ? 0 : sg_clock_ns() - wait->begin_ns;
}

void sg_wait_wake(const struct sg_wait_queue *queue)
{
    /* Relaxed: a full barrier here would stand in every call; a sleeper that is missed looks again
     * by itself after SLEEP_NS. */
    if (__builtin_expect(atomic_load_explicit(queue->sleepers, memory_order_relaxed) == 0, 1))
        return;
    atomic_fetch_add_explicit(queue->wake, 1, memory_order_relaxed);
    syscall(SYS_futex, queue->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
